// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/host/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <span>

namespace deputy::sandbox {
namespace {

constexpr rlim_t kMaxFiles = 1024;
constexpr rlim_t kMaxProcesses = 4096;

// Some C libraries give the constants RLIMIT_… a type of their own, others use int.
bool Limit(decltype(RLIMIT_CORE) resource, rlim_t max) {
  const rlimit limit = {max, max};
  return setrlimit(resource, &limit) == 0;
}

// RLIMIT_DATA counts private writable memory. RLIMIT_AS would also count the address space that
// drivers reserve without using it.
bool EnterLimits(const Confinement& confinement) {
  bool done = Limit(RLIMIT_CORE, 0);
  if (confinement.profile == Profile::kStrict) {
    done = Limit(RLIMIT_NOFILE, kMaxFiles) && Limit(RLIMIT_NPROC, kMaxProcesses) && done;
  }
  if (confinement.memory_bytes > 0) {
    done = Limit(RLIMIT_DATA, static_cast<rlim_t>(confinement.memory_bytes)) && done;
  }
  return done;
}

// ---- Landlock -----------------------------------------------------------------------------------

int LandlockVersion() {
  return static_cast<int>(
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

// Returns the kinds of access that change files, as far as this version of Landlock handles them.
uint64_t WriteAccess(int version) {
  constexpr uint64_t kRefer = 1u << 13, kTruncate = 1u << 14;
  uint64_t access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2) access |= kRefer;
  if (version >= 3) access |= kTruncate;
  return access;
}

void Allow(int rules, const std::string& folder, uint64_t access) {
  landlock_path_beneath_attr below{};
  below.allowed_access = access;
  below.parent_fd = open(folder.c_str(), O_PATH | O_CLOEXEC);
  if (below.parent_fd < 0) return;
  (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
  close(below.parent_fd);
}

std::vector<std::string> WritableFolders(const Confinement& confinement) {
  std::vector<std::string> folders = confinement.writable;
  if (confinement.profile == Profile::kStrict) return folders;
  // Nodes of devices, and the caches of drivers.
  folders.insert(folders.end(), {"/dev", "/tmp"});
  if (const char* const cache = std::getenv("XDG_CACHE_HOME")) folders.emplace_back(cache);
  if (const char* const home = std::getenv("HOME"))
    folders.push_back(std::string(home) + "/.cache");
  return folders;
}

// Permits every read, and writes in the given folders only. Returns the version of Landlock; 0 if
// the kernel has none.
int EnterLandlock(const std::vector<std::string>& writable) {
  const int version = LandlockVersion();
  if (version < 1) return 0;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = WriteAccess(version);
  const int rules =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (rules < 0) return 0;
  for (const std::string& folder : writable) Allow(rules, folder, attributes.handled_access_fs);
  const bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
  return done ? version : 0;
}

// ---- seccomp ------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#elif defined(__arm__) && defined(__ARM_EABI__)
constexpr uint32_t kMachine = AUDIT_ARCH_ARM;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr uint32_t kMachine = AUDIT_ARCH_RISCV64;
#else
constexpr uint32_t kMachine = 0;  // no filter is installed
#endif

// System calls that no delegate needs. The list names what is denied, since the calls that drivers
// need are unknown.
constexpr int kDeniedAlways[] = {SYS_ptrace,
                                 SYS_process_vm_readv,
                                 SYS_process_vm_writev,
                                 SYS_mount,
                                 SYS_umount2,
                                 SYS_pivot_root,
                                 SYS_chroot,
                                 SYS_setns,
                                 SYS_unshare,
                                 SYS_bpf,
                                 SYS_perf_event_open,
                                 SYS_userfaultfd,
                                 SYS_io_uring_setup,
                                 SYS_keyctl,
                                 SYS_add_key,
                                 SYS_request_key,
                                 SYS_init_module,
                                 SYS_finit_module,
                                 SYS_kexec_load,
                                 SYS_reboot,
                                 SYS_swapon,
                                 SYS_kill,
                                 SYS_tkill,
                                 SYS_pidfd_send_signal,
                                 SYS_rt_sigqueueinfo,
                                 SYS_rt_tgsigqueueinfo,
                                 SYS_setuid,
                                 SYS_setgid,
#ifdef SYS_setuid32
                                 SYS_setuid32,
                                 SYS_setgid32,
#endif
                                 SYS_open_by_handle_at,
                                 SYS_listen,
                                 SYS_bind,
                                 SYS_accept4};
constexpr int kDeniedPrograms[] = {SYS_execve, SYS_execveat};
constexpr int kDeniedFiles[] = {SYS_openat, SYS_openat2, SYS_memfd_create, SYS_connect,
#ifdef SYS_open
                                SYS_open,   SYS_creat
#endif
};

using Program = std::vector<sock_filter>;

sock_filter Statement(uint32_t code, uint32_t value) {
  return {static_cast<uint16_t>(code), 0, 0, value};
}

// Skips `if_true` or `if_false` statements after the comparison with `value`.
sock_filter Jump(uint32_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
  return {static_cast<uint16_t>(BPF_JMP | code | BPF_K), if_true, if_false, value};
}

constexpr uint32_t kLoadWord = BPF_LD | BPF_W | BPF_ABS;
constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

void Deny(std::span<const int> calls, Program* program) {
  for (const int call : calls) {
    program->push_back(Jump(BPF_JEQ, static_cast<uint32_t>(call), 0, 1));
    program->push_back(Statement(BPF_RET | BPF_K, kRefuse));
  }
}

// Denies the call unless its first argument has this value.
void DenyUnless(uint32_t call, uint32_t first_argument, Program* program) {
  program->push_back(Jump(BPF_JEQ, call, 0, 4));
  program->push_back(Statement(kLoadWord, offsetof(seccomp_data, args)));
  program->push_back(Jump(BPF_JEQ, first_argument, 0, 1));
  program->push_back(Statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  program->push_back(Statement(BPF_RET | BPF_K, kRefuse));
}

Program BeginProgram() {
  Program program = {Statement(kLoadWord, offsetof(seccomp_data, arch)),
                     Jump(BPF_JEQ, kMachine, 1, 0),
                     Statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                     Statement(kLoadWord, offsetof(seccomp_data, nr))};
#ifdef __x86_64__
  constexpr uint32_t kX32 = 0x40000000;  // bit of the system calls of the x32 ABI
  program.push_back(Jump(BPF_JGE, kX32, 0, 1));
  program.push_back(Statement(BPF_RET | BPF_K, kRefuse));
#endif
  return program;
}

// Installs the program for all threads.
bool Install(Program program) {
  if (kMachine == 0) return false;
  program.push_back(Statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

void Append(bool done, const std::string& name, std::string* text) {
  *text += text->back() == ':' ? " " : ", ";
  *text += done ? name : "no " + name;
}

}  // namespace

std::string EnterFirstStage(const Confinement& confinement) {
  if (confinement.profile == Profile::kNone) {
    Limit(RLIMIT_CORE, 0);
    const bool limited = EnterLimits(confinement);
    return limited ? "profile none" : "profile none: no limits";
  }
  const bool is_strict = confinement.profile == Profile::kStrict;
  std::string text = is_strict ? "profile strict:" : "profile device:";
  if (is_strict) {
    Append(unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0, "namespaces", &text);
  }
  Append(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "new privileges denied", &text);
  Append(EnterLimits(confinement), "limits", &text);
  const int landlock = EnterLandlock(WritableFolders(confinement));
  Append(landlock > 0, "Landlock" + (landlock > 0 ? " " + std::to_string(landlock) : ""), &text);
  Program program = BeginProgram();
  Deny(kDeniedAlways, &program);
  DenyUnless(SYS_socket, is_strict ? ~0u : uint32_t{AF_UNIX}, &program);
  DenyUnless(SYS_tgkill, static_cast<uint32_t>(getpid()), &program);
  Append(Install(std::move(program)), "seccomp", &text);
  return text;
}

bool EnterSecondStage(const Confinement& confinement) {
  if (confinement.profile == Profile::kNone) return true;
  Program program = BeginProgram();
  Deny(kDeniedPrograms, &program);
  if (confinement.profile == Profile::kStrict) Deny(kDeniedFiles, &program);
  return Install(std::move(program));
}

}  // namespace deputy::sandbox
