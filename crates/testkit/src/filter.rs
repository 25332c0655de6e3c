//! A system that does not reveal the process at the other end of a connection, as for a service
//! with `RestrictAddressFamilies=` or in a container.

use nix::libc::{AF_NETLINK, EAFNOSUPPORT, SYS_socket};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// Runs a closure on its own thread, on which no `AF_NETLINK` socket can be opened. A seccomp
/// filter does this, and every process started there inherits it.
///
/// # Panics
/// The system rejects the filter, or the closure panics.
pub fn without_netlink<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let filter = filter();
    std::thread::scope(|scope| {
        let filtered = scope.spawn(move || {
            apply_filter(&filter).expect("the system takes the filter");
            run()
        });
        filtered.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn filter() -> BpfProgram {
    let family = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        u64::from(AF_NETLINK.unsigned_abs()),
    );
    let rule = family.and_then(|family| SeccompRule::new(vec![family])).expect("a rule");
    let filter = SeccompFilter::new(
        [(SYS_socket, vec![rule])].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(EAFNOSUPPORT.unsigned_abs()),
        std::env::consts::ARCH.try_into().expect("a known processor"),
    );
    filter.and_then(TryInto::try_into).expect("a filter")
}
