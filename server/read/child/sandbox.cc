#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "server/read/child/serve.h"

namespace stoker {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif

// What memory, threads' locks, clocks and the socket need. A thread cannot be started.
constexpr long kAllowed[] = {
    SYS_read,           SYS_write,        SYS_readv,
    SYS_writev,         SYS_recvfrom,     SYS_sendto,
    SYS_close,          SYS_brk,          SYS_mmap,
    SYS_munmap,         SYS_mremap,       SYS_mprotect,
    SYS_madvise,        SYS_futex,        SYS_clock_gettime,
    SYS_getrandom,      SYS_sched_yield,  SYS_sched_getaffinity,
    SYS_nanosleep,      SYS_gettid,       SYS_clock_nanosleep,
    SYS_getpid,         SYS_tgkill,       SYS_rt_sigaction,
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
    SYS_exit,           SYS_exit_group,   SYS_restart_syscall,
};

}  // namespace

bool EnterSandbox() {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const long call : kAllowed) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace stoker
