// SPDX-License-Identifier: Apache-2.0
//
// The converter's interface converts texts with dual_abi_helper.h. The functions of its library are
// defined here: a setter stores what the getter returns.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "include/converter.h"

namespace mindspore {

using Chars = std::vector<char>;
using CharMap = std::map<Chars, Chars>;

struct ConverterPara {
  Chars model, output, weights, config_file, key, mode, encrypt_key, device, provider, chip;
  std::map<Chars, CharMap> config;
  std::map<Chars, std::vector<int64_t>> shapes;
};

namespace {
ConverterPara* last = nullptr;
std::vector<Chars> names;
}  // namespace

Converter::Converter() : data_(std::make_shared<ConverterPara>()) { last = data_.get(); }
Converter::Converter(converter::FmkType, const Chars& model, const Chars& output,
                     const Chars& weights)
    : Converter() {
  data_->model = model;
  data_->output = output;
  data_->weights = weights;
}
void Converter::SetConfigFile(const Chars& path) { data_->config_file = path; }
Chars Converter::GetConfigFileChar() const { return data_->config_file; }
void Converter::SetConfigInfo(const Chars& section, const CharMap& config) {
  data_->config[section] = config;
}
std::map<Chars, CharMap> Converter::GetConfigInfoChar() const { return data_->config; }
void Converter::SetInputShape(const std::map<Chars, std::vector<int64_t>>& shapes) {
  data_->shapes = shapes;
}
std::map<Chars, std::vector<int64_t>> Converter::GetInputShapeChar() const { return data_->shapes; }
void Converter::SetDecryptKey(const Chars& key) { data_->key = key; }
void Converter::SetDecryptMode(const Chars& mode) { data_->mode = mode; }
Chars Converter::GetDecryptModeChar() const { return data_->mode; }
void Converter::SetEncryptKey(const Chars& key) { data_->encrypt_key = key; }
void Converter::SetDevice(const Chars& device) { data_->device = device; }
Chars Converter::GetDeviceChar() { return data_->device; }
void Converter::SetProvider(const Chars& provider) { data_->provider = provider; }
Chars Converter::GetProviderChar() { return data_->provider; }
void Converter::SetChipName(const Chars& name) { data_->chip = name; }
Chars Converter::GetChipNameChar() { return data_->chip; }
Status Converter::Convert(converter::FmkType, const Chars& model, const Chars& output,
                          const Chars& weights) {
  data_->model = model;
  data_->output = output;
  data_->weights = weights;
  return kSuccess;
}

namespace converter {
void ConverterContext::SetGraphOutputTensorNames(const std::vector<Chars>&& output_names) {
  names = output_names;
}
std::vector<Chars> ConverterContext::GetGraphOutputTensorNamesInChar() { return names; }
CharMap ConverterContext::GetConfigInfo(const Chars&& section) {
  return {{StringToChar("section"), section}};
}
}  // namespace converter

TEST(ConverterCheck, setters_and_getters_convert_texts) {
  Converter converter(converter::kFmkTypeTflite, "a.tflite", "b", "w");
  EXPECT_EQ(CharToString(last->model), "a.tflite");
  EXPECT_EQ(CharToString(last->output), "b");
  EXPECT_EQ(CharToString(last->weights), "w");
  converter.SetConfigFile("config.ini");
  EXPECT_EQ(converter.GetConfigFile(), "config.ini");
  converter.SetConfigInfo("section", {{"k", "v"}, {"k2", ""}});
  const std::map<std::string, std::string> section = {{"k", "v"}, {"k2", ""}};
  EXPECT_EQ(converter.GetConfigInfo().at("section"), section);
  converter.SetInputShape({{"x", {1, 2}}, {"y", {}}});
  EXPECT_EQ(converter.GetInputShape().at("x"), (std::vector<int64_t>{1, 2}));
  converter.SetDecryptKey("key");
  EXPECT_EQ(CharToString(last->key), "key");
  converter.SetDecryptMode("AES-GCM");
  EXPECT_EQ(converter.GetDecryptMode(), "AES-GCM");
  converter.SetEncryptKey("other");
  EXPECT_EQ(CharToString(last->encrypt_key), "other");
  converter.SetDevice("Ascend310");
  EXPECT_EQ(converter.GetDevice(), "Ascend310");
  converter.SetProvider("ge");
  EXPECT_EQ(converter.GetProvider(), "ge");
  converter.SetChipName("chip");
  EXPECT_EQ(converter.GetChipName(), "chip");
  EXPECT_EQ(converter.Convert(converter::kFmkTypeMs, "m", "o", ""), kSuccess);
  EXPECT_EQ(CharToString(last->model) + CharToString(last->output), "mo");
}

TEST(ConverterCheck, the_context_converts_lists_and_maps) {
  using converter::ConverterContext;
  ConverterContext::SetGraphOutputTensorNames(std::vector<std::string>{"first", "second"});
  EXPECT_EQ(ConverterContext::GetGraphOutputTensorNames(),
            (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(ConverterContext::GetConfigInfo("name").at("section"), "name");
}

}  // namespace mindspore
