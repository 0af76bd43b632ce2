// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plugin_support.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>

#include "c_api/include/deputy_layers.h"
#include "tests/support/paths.h"

namespace deputy {

std::string Library(const std::string& name) { return PluginFolder() + "/lib" + name + ".so"; }

std::string ScratchFile(const std::string& name) { return BuildPath("tests/plugin_" + name); }

std::vector<uint8_t> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes;
  std::vector<char> block(1 << 16);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    bytes.insert(bytes.end(), block.begin(), block.begin() + file.gcount());
  }
  return bytes;
}

std::string ReadText(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadBytes(path);
  return {bytes.begin(), bytes.end()};
}

void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// Queries the list of mapped files, because dlopen would open the file, and block if it is a pipe.
bool IsLoaded(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  return !error && ReadText("/proc/self/maps").find(" " + real + "\n") != std::string::npos;
}

TfLiteDelegate* CreateExternal(const std::string& path, const Options& pairs) {
  TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(path.c_str());
  for (const auto& [key, value] : pairs) {
    EXPECT_EQ(options.insert(&options, key.c_str(), value.c_str()), kTfLiteOk);
  }
  return TfLiteExternalDelegateCreate(&options);
}

Handle External(const std::string& name, const Options& pairs) {
  Handle delegate(CreateExternal(Library(name), pairs), &TfLiteExternalDelegateDelete);
  EXPECT_NE(delegate, nullptr) << DeputyLastError();
  return delegate;
}

Handle WithLayers(TfLiteDelegate* delegate, const std::string& layers) {
  void* const library = dlopen(BuildPath("libdeputy_layers.so").c_str(), RTLD_NOW);
  EXPECT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<decltype(&DeputyLayersCreateDelegate)>(
      dlsym(library, "DeputyLayersCreateDelegate"));
  const auto destroy = reinterpret_cast<decltype(&DeputyLayersDeleteDelegate)>(
      dlsym(library, "DeputyLayersDeleteDelegate"));
  return {create(delegate, layers.c_str(), nullptr), destroy};
}

std::string CreationError(const std::string& path, const Options& pairs) {
  TfLiteDelegate* delegate = CreateExternal(path, pairs);
  if (delegate != nullptr) {
    TfLiteExternalDelegateDelete(delegate);
    return "";
  }
  const std::string text = DeputyLastError();
  const std::string end = " external delegate from : " + path + " (";
  const size_t at = text.find(end);
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_THAT(text, testing::EndsWith(")"));
  return at == std::string::npos ? text : text.substr(at + end.size());
}

}  // namespace deputy
