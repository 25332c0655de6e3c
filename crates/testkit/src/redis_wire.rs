//! A wire between programs and a private Redis. Tests cut it, hold it in one direction, or slow it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A fault of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFault {
    /// All connections are closed, and new ones too.
    Cut,
    /// The words of programs wait, and those of Redis arrive.
    HeldToRedis,
    /// The words of Redis wait, and those of programs arrive.
    HeldFromRedis,
    /// All words arrive this much later.
    Slow(Duration),
}

/// A wire on a port of its own. Dropping it cuts it for good.
pub struct RedisWire {
    address: SocketAddr,
    shared: Arc<WireState>,
}

struct WireState {
    redis: PathBuf,
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Default)]
struct Line {
    fault: Option<WireFault>,
    is_over: bool,
    connections: Vec<Connection>,
}

struct Connection {
    program: TcpStream,
    redis: UnixStream,
}

impl RedisWire {
    /// Lays a wire to the socket of a Redis.
    ///
    /// # Panics
    /// No port is free.
    #[expect(clippy::unwrap_used, reason = "a test cannot go on without its wire")]
    pub fn to(socket: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (line, changed) = <_>::default();
        let shared = Arc::new(WireState { redis: socket.to_owned(), line, changed });
        let state = shared.clone();
        std::thread::spawn(move || state.accept_all(&listener));
        Self { address, shared }
    }

    /// Returns the address at which programs reach the Redis.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Sets the fault of the wire, or mends it.
    pub fn set(&self, fault: Option<WireFault>) {
        let mut line = self.shared.line();
        line.fault = fault;
        if fault == Some(WireFault::Cut) {
            line.close_all();
        }
        self.shared.changed.notify_all();
    }
}

impl Drop for RedisWire {
    fn drop(&mut self) {
        let mut line = self.shared.line();
        line.is_over = true;
        line.close_all();
        self.shared.changed.notify_all();
        drop(line);
        // The task that accepts connections notices the end with the next one.
        let _ = TcpStream::connect(self.address);
    }
}

impl Line {
    fn close_all(&mut self) {
        for connection in self.connections.drain(..) {
            connection.close();
        }
    }
}

impl Connection {
    fn close(&self) {
        let _ = self.program.shutdown(Shutdown::Both);
        let _ = self.redis.shutdown(Shutdown::Both);
    }

    fn twin(&self) -> io::Result<Self> {
        Ok(Self { program: self.program.try_clone()?, redis: self.redis.try_clone()? })
    }
}

impl WireState {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept_all(self: &Arc<Self>, listener: &TcpListener) {
        for program in listener.incoming().map_while(Result::ok) {
            let mut line = self.line();
            if line.is_over {
                return;
            }
            if line.fault == Some(WireFault::Cut) {
                continue;
            }
            // A Redis that is away refuses connections.
            if let Ok(redis) = UnixStream::connect(&self.redis) {
                let connection = Connection { program, redis };
                if self.pump_both(&connection).is_ok() {
                    line.connections.push(connection);
                }
            }
        }
    }

    fn pump_both(self: &Arc<Self>, connection: &Connection) -> io::Result<()> {
        let (to, from) = (connection.twin()?, connection.twin()?);
        let (inward, outward) = (self.clone(), self.clone());
        std::thread::spawn(move || {
            inward.pump(&to.program, &to.redis, WireFault::HeldToRedis);
            to.close();
        });
        std::thread::spawn(move || {
            outward.pump(&from.redis, &from.program, WireFault::HeldFromRedis);
            from.close();
        });
        Ok(())
    }

    /// Carries the words of one side to the other until either ends.
    fn pump(&self, mut from: impl Read, mut to: impl Write, held_by: WireFault) {
        let mut bytes = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            self.wait_while_held(held_by);
            if to.write_all(&bytes[..count]).is_err() {
                return;
            }
        }
    }

    fn wait_while_held(&self, held_by: WireFault) {
        let is_held = |line: &mut Line| line.fault == Some(held_by) && !line.is_over;
        let line = self.changed.wait_while(self.line(), is_held);
        let fault = line.unwrap_or_else(PoisonError::into_inner).fault;
        if let Some(WireFault::Slow(time)) = fault {
            std::thread::sleep(time);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Begins a service that answers each byte with the next one.
    fn counting_service(socket: &Path) {
        let listener = UnixListener::bind(socket).unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).is_ok() {
                        byte[0] += 1;
                        let _ = stream.write_all(&byte);
                    }
                });
            }
        });
    }

    fn asked(stream: &mut TcpStream, byte: u8) -> io::Result<u8> {
        let mut answer = [byte];
        stream.write_all(&answer)?;
        stream.read_exact(&mut answer)?;
        Ok(answer[0])
    }

    #[test]
    fn a_wire_carries_holds_and_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("service.sock");
        counting_service(&socket);
        let wire = RedisWire::to(&socket);
        let mut stream = TcpStream::connect(wire.address).unwrap();
        assert_eq!(asked(&mut stream, 1).unwrap(), 2);

        for held in [WireFault::HeldToRedis, WireFault::HeldFromRedis] {
            wire.set(Some(held));
            stream.write_all(&[7]).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            assert!(stream.read(&mut [0]).is_err());
            stream.set_read_timeout(None).unwrap();
            wire.set(None);
            let mut answer = [0];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, [8], "{held:?}: late, and not lost");
        }

        wire.set(Some(WireFault::Cut));
        assert!(asked(&mut stream, 1).is_err());
        let mut refused = TcpStream::connect(wire.address).unwrap();
        assert!(asked(&mut refused, 1).is_err());
        wire.set(None);
        let mut again = TcpStream::connect(wire.address).unwrap();
        assert_eq!(asked(&mut again, 3).unwrap(), 4);
        drop(wire);
        assert!(asked(&mut again, 3).is_err());
    }
}
