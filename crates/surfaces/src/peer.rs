//! The owner of the process at the other end of a local connection.
//!
//! The system knows the owner of every socket. The server asks it once for each connection, with
//! the addresses as the client sees them. `docs/security.md` gives the reasons.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

/// The user whose process is the client, as far as the system knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The user who runs this server, or root, who can do everything as that user anyway. Also used
    /// if the server does not distinguish users.
    Owner,
    /// Another user of this computer, by uid.
    Other(u32),
    /// The owner is unknown, for this reason.
    Unknown(UnknownPeer),
    /// The client has closed its socket. The system reports root for a socket without a process, so
    /// this is a case of its own. Otherwise a client that sends a request and closes immediately
    /// would count as root.
    Gone,
}

/// The reason why the system does not name the owner of a client's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownPeer {
    /// The server does not run on Linux.
    #[error("the owner of a connection's process can be determined only on Linux")]
    System,
    /// The system refused with this error, e.g. because a service may not open `AF_NETLINK`
    /// sockets.
    #[error(
        "the system refused to report the owner of the connection's process (sock_diag over \
         AF_NETLINK: {})",
        io::Error::from_raw_os_error(*.0)
    )]
    Refused(i32),
    /// The answer cannot be read, or the system knows no such socket: the client is in another
    /// network namespace.
    #[error(
        "the client is in another network namespace, such as a container's, where the system \
         cannot see its process"
    )]
    Elsewhere,
}

impl UnknownPeer {
    pub(crate) fn of(error: &io::Error) -> Self {
        error.raw_os_error().map_or(Self::Elsewhere, Self::Refused)
    }
}

/// The owner of a socket. The inode is 0 if no process holds the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SocketOwner {
    uid: u32,
    inode: u32,
}

/// Returns the owner of a connection that `client` made to `server`.
pub fn ask(client: SocketAddr, server: SocketAddr) -> Peer {
    judge(own_user(), system::socket(client, server))
}

/// Asks the system about a connection of this process to itself, to find out if the system answers.
///
/// # Errors
/// The reason why the system does not answer.
pub fn try_to_ask() -> Result<(), UnknownPeer> {
    let any = [SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), (Ipv6Addr::LOCALHOST, 0).into()];
    let asked = TcpListener::bind(&any[..]).and_then(|listener| {
        let client = TcpStream::connect(listener.local_addr()?)?;
        Ok(ask(client.local_addr()?, client.peer_addr()?))
    });
    match asked {
        Ok(Peer::Unknown(why)) => Err(why),
        Ok(Peer::Owner | Peer::Other(_) | Peer::Gone) => Ok(()),
        Err(error) => Err(UnknownPeer::of(&error)),
    }
}

/// Returns the client's user. A socket without a process comes first, because the system reports
/// root as its owner.
fn judge(own: u32, socket: Result<SocketOwner, UnknownPeer>) -> Peer {
    match socket {
        Err(why) => Peer::Unknown(why),
        Ok(SocketOwner { inode: 0, .. }) => Peer::Gone,
        Ok(SocketOwner { uid, .. }) if uid == own || uid == 0 => Peer::Owner,
        Ok(SocketOwner { uid, .. }) => Peer::Other(uid),
    }
}

fn own_user() -> u32 {
    nix::unistd::geteuid().as_raw()
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::net::SocketAddr;

    use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
    use netlink_packet_sock_diag::SockDiagMessage;
    use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
    use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
    use netlink_sys::Socket as Netlink;
    use netlink_sys::protocols::NETLINK_SOCK_DIAG;

    use super::{SocketOwner, UnknownPeer};

    /// The error number for a socket that does not exist.
    const ENOENT: i32 = nix::errno::Errno::ENOENT as i32;

    /// The cookie that matches any socket with these addresses.
    const ANY_COOKIE: [u8; 8] = [0xff; 8];

    /// Returns the owner of the client's socket. The answer is ready as soon as the request is
    /// sent, so the call never blocks.
    pub(super) fn socket(
        client: SocketAddr,
        server: SocketAddr,
    ) -> Result<SocketOwner, UnknownPeer> {
        let answer = answer(client, server).map_err(|error| {
            tracing::debug!(%error, "the owner of a connection cannot be determined");
            UnknownPeer::of(&error)
        })?;
        match NetlinkMessage::<SockDiagMessage>::deserialize(&answer).map(|said| said.payload) {
            Ok(NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(found))) => {
                Ok(SocketOwner { uid: found.header.uid, inode: found.header.inode })
            }
            Ok(NetlinkPayload::Error(error)) if error.raw_code() != -ENOENT => {
                Err(UnknownPeer::Refused(error.raw_code().abs()))
            }
            // This arm also takes the error for an unknown socket, and payloads that later versions
            // of the library add.
            _ => Err(UnknownPeer::Elsewhere),
        }
    }

    fn answer(client: SocketAddr, server: SocketAddr) -> io::Result<Vec<u8>> {
        let netlink = Netlink::new(NETLINK_SOCK_DIAG)?;
        netlink.set_non_blocking(true)?;
        netlink.send_to(&question(client, server), &netlink_sys::SocketAddr::new(0, 0), 0)?;
        netlink.recv_from_full().map(|(answer, _)| answer)
    }

    /// Returns the netlink message that asks for the socket with these addresses.
    fn question(client: SocketAddr, server: SocketAddr) -> Vec<u8> {
        // A dual-stack socket is listed under its IPv4 addresses.
        let (from, to) = (client.ip().to_canonical(), server.ip().to_canonical());
        let socket_id = SocketId {
            source_port: client.port(),
            destination_port: server.port(),
            source_address: from,
            destination_address: to,
            interface_id: 0,
            cookie: ANY_COOKIE,
        };
        let family = if from.is_ipv4() { AF_INET } else { AF_INET6 };
        let asked = InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::empty(),
            states: StateFlags::all(),
            socket_id,
        };
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST;
        let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(asked).into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::net::SocketAddr;

    use super::{SocketOwner, UnknownPeer};

    /// Always fails: there is no common way to ask on other systems.
    pub(super) fn socket(_: SocketAddr, _: SocketAddr) -> Result<SocketOwner, UnknownPeer> {
        Err(UnknownPeer::System)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_owner_and_root_are_the_same_and_nobody_else_is() {
        let held = |uid| Ok(SocketOwner { uid, inode: 7 });
        for (own, socket, expected) in [
            (1000, held(1000), Peer::Owner),
            (1000, held(0), Peer::Owner),
            (1000, held(1001), Peer::Other(1001)),
            (0, held(0), Peer::Owner),
            (0, held(65534), Peer::Other(65534)),
            (1000, Err(UnknownPeer::Elsewhere), Peer::Unknown(UnknownPeer::Elsewhere)),
            (1000, Ok(SocketOwner { uid: 0, inode: 0 }), Peer::Gone),
        ] {
            assert_eq!(judge(own, socket), expected, "{own} {socket:?}");
        }
    }

    #[test]
    fn a_server_finds_out_before_anybody_comes() {
        assert_eq!(try_to_ask(), Ok(()));
        let refused = moothall_testkit::filter::without_netlink(try_to_ask);
        assert_eq!(refused, Err(UnknownPeer::Refused(nix::errno::Errno::EAFNOSUPPORT as i32)));
    }

    /// Needs a kernel with sock_diag.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_knows_every_way_to_this_computer() {
        for address in ["127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            let Ok(listener) = std::net::TcpListener::bind(address) else { continue };
            let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (accepted, from) = listener.accept().unwrap();
            assert_eq!(ask(from, accepted.local_addr().unwrap()), Peer::Owner, "{address}");
            let elsewhere = SocketAddr::new(from.ip(), from.port() ^ 1);
            let unknown = Peer::Unknown(UnknownPeer::Elsewhere);
            assert_eq!(ask(elsewhere, "127.0.0.1:1".parse().unwrap()), unknown, "{address}");
            drop(client);
            assert_eq!(ask(from, accepted.local_addr().unwrap()), Peer::Gone, "{address}");
        }
    }
}
