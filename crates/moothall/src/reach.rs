//! Addresses of a server: for programs on its own computer, and for other computers.

use std::net::{IpAddr, SocketAddr};

use moothall_surfaces::{Tls, here};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

use crate::config::ServerConfig;

/// The addresses of a server, as URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Address for programs on the server's own computer.
    pub here: String,
    /// Addresses for other computers, if known.
    pub others: Vec<String>,
    /// Values of the header `Host` for the IP addresses at which other computers reach the server.
    /// Empty on loopback.
    pub hosts: Vec<String>,
}

impl Reach {
    /// Collects the addresses. Those for other computers are the allowed origins, then the names in
    /// the certificate, or, without such names, the IP addresses on which the server listens.
    pub fn of(bound: SocketAddr, config: &ServerConfig, tls: Option<&Tls>) -> Self {
        let certified = tls.map(Tls::names).unwrap_or_default();
        Self::from(bound, config, tls.is_some(), &certified, &own_addresses())
    }

    /// Derives the addresses of a server bound to `bound`, as [`Reach::of`] does. `certified` are
    /// the names in its certificate, and `own` are the IP addresses of this computer. A server on
    /// loopback has only the allowed origins for other computers.
    fn from(
        bound: SocketAddr,
        config: &ServerConfig,
        tls: bool,
        certified: &[String],
        own: &[IpAddr],
    ) -> Self {
        let (ip, port) = (bound.ip(), bound.port());
        let outside: Vec<IpAddr> = match ip {
            ip if ip.is_loopback() => Vec::new(),
            ip if ip.is_unspecified() => {
                // `0.0.0.0` accepts IPv4 only; `[::]` accepts both.
                own.iter().copied().filter(|own| ip.is_ipv6() || own.is_ipv4()).collect()
            }
            ip => vec![ip],
        };
        let hosts: Vec<String> = outside
            .iter()
            .flat_map(|ip| host_values(*ip, port, if tls { 443 } else { 80 }))
            .collect();
        let names = certified
            .iter()
            .filter(|name| *name != "localhost")
            .map(|name| format!("https://{name}{}", suffix(port)));
        // Other computers do not reach a server on loopback, even if its certificate has names.
        let names: Vec<String> = names.filter(|_| !outside.is_empty()).collect();
        let scheme = if tls { "https" } else { "http" };
        let addresses =
            outside.iter().map(|ip| format!("{scheme}://{}", SocketAddr::new(*ip, port)));
        let mut others: Vec<String> = config.allowed_origins.clone();
        others.extend(if names.is_empty() { addresses.collect() } else { names });
        Self { here: here(bound), others, hosts }
    }
}

fn suffix(port: u16) -> String {
    if port == 443 { String::new() } else { format!(":{port}") }
}

/// Returns the values of `Host` for an address: with the port, and without it if it is the usual
/// port of the scheme.
fn host_values(ip: IpAddr, port: u16, usual: u16) -> Vec<String> {
    let whole = SocketAddr::new(ip, port).to_string();
    let bare = whole.rsplit_once(':').map(|(bare, _)| bare.to_owned()).filter(|_| port == usual);
    std::iter::once(whole).chain(bare).collect()
}

/// Returns the addresses of this computer's interfaces that are up. Leaves out loopback, and
/// link-local IPv6 addresses, because these need the name of an interface.
fn own_addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = getifaddrs() else { return Vec::new() };
    let up = interfaces.filter(|interface| interface.flags.contains(InterfaceFlags::IFF_UP));
    let mut found: Vec<IpAddr> = Vec::new();
    for address in up.filter_map(|interface| interface.address) {
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        let v6 = address
            .as_sockaddr_in6()
            .map(|address| address.ip())
            .filter(|ip| !ip.is_unicast_link_local())
            .map(IpAddr::V6);
        found.extend(v4.or(v6).filter(|ip| !ip.is_loopback() && !found.contains(ip)));
    }
    found
}

/// True if the host in this URL is `localhost` or a loopback address.
pub fn is_loopback(server: &str) -> bool {
    host_of(server).is_some_and(|host| {
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    })
}

fn host_of(server: &str) -> Option<String> {
    Some(reqwest::Url::parse(server).ok()?.host_str()?.trim_matches(['[', ']']).to_owned())
}

/// Returns the port of a URL if its host is `localhost` or an address of this computer. Other host
/// names are not looked up.
pub fn own_port(server: &str) -> Option<u16> {
    let own = |ip: IpAddr| own_addresses().contains(&ip);
    let here = is_loopback(server) || host_of(server)?.parse().is_ok_and(own);
    if here { reqwest::Url::parse(server).ok()?.port_or_known_default() } else { None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn reach(bound: &str, tls: bool, certified: &[&str]) -> Reach {
        let certified: Vec<String> = certified.iter().map(|name| (*name).to_owned()).collect();
        let own = ["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()];
        Reach::from(bound.parse().unwrap(), &ServerConfig::default(), tls, &certified, &own)
    }

    #[test]
    fn a_server_on_all_addresses_is_reached_under_those_of_its_computer() {
        let all = reach("0.0.0.0:5111", false, &[]);
        assert_eq!(all.here, "http://127.0.0.1:5111");
        assert_eq!(
            (all.others, all.hosts),
            (vec!["http://192.0.2.7:5111".to_owned()], vec!["192.0.2.7:5111".to_owned()])
        );
        let both = reach("[::]:80", false, &[]);
        assert_eq!(both.here, "http://[::1]:80");
        assert_eq!(both.hosts, ["192.0.2.7:80", "192.0.2.7", "[2001:db8::7]:80", "[2001:db8::7]"]);
    }

    #[test]
    fn names_of_a_certificate_go_before_addresses_and_nobody_else_reaches_loopback() {
        let named = reach("0.0.0.0:443", true, &["localhost", "hall.test"]);
        assert_eq!(named.others, ["https://hall.test"]);
        assert_eq!(
            reach("192.0.2.9:5111", true, &["localhost"]).others,
            ["https://192.0.2.9:5111"]
        );
        assert_eq!(reach("127.0.0.1:5111", true, &["hall.test"]).others, Vec::<String>::new());
    }

    #[test]
    fn what_the_operator_names_is_told_too() {
        let config = ServerConfig {
            allowed_origins: vec!["https://hall.test".into()],
            ..ServerConfig::default()
        };
        let behind = Reach::from("127.0.0.1:5111".parse().unwrap(), &config, false, &[], &[]);
        assert_eq!(behind.others, ["https://hall.test"]);
    }

    #[test]
    fn only_this_computer_is_here() {
        for (server, port) in [
            ("http://127.0.0.1:4711", 4711),
            ("https://localhost:1/", 1),
            ("http://[::1]:4711", 4711),
        ] {
            assert_eq!(own_port(server), Some(port), "{server}");
        }
        for server in ["http://moothall.test:4711", "http://192.0.2.77:4711", "nonsense"] {
            assert_eq!(own_port(server), None, "{server}");
        }
    }
}
