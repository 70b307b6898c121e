//! A port on the loopback that records every connection to it.

use std::io::{ErrorKind, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// How long `hits` waits for datagrams that were sent before its control.
const PATIENCE: Duration = Duration::from_secs(5);

/// Records connections, and datagrams to the same port, on two addresses of IPv4 and on IPv6.
/// It answers nothing: the system accepts the connections, and `hits` reads them.
pub struct Canary {
    pub port: u16,
    listeners: Vec<TcpListener>,
    sockets: Vec<UdpSocket>,
}

impl Canary {
    pub fn listen() -> Self {
        (0..100).find_map(|_| Self::on_one_port()).expect("a port that is free for all of it")
    }

    fn on_one_port() -> Option<Self> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?.local_addr().ok()?.port();
        let second = Ipv4Addr::new(127, 0, 0, 2);
        Self::on(&[Ipv4Addr::LOCALHOST.into(), second.into(), Ipv6Addr::LOCALHOST.into()], free)
    }

    /// On one port of some addresses; `None` when the port is taken.
    pub fn on(addresses: &[IpAddr], port: u16) -> Option<Self> {
        let listeners = addresses.iter().map(|ip| TcpListener::bind((*ip, port)).ok());
        let sockets = addresses.iter().map(|ip| UdpSocket::bind((*ip, port)).ok());
        Some(Self {
            port,
            listeners: listeners.collect::<Option<_>>()?,
            sockets: sockets.collect::<Option<_>>()?,
        })
    }

    /// `text` with the canary's address in place of `HTTP` and its port in place of `PORT`.
    pub fn aim(&self, text: &str) -> String {
        let port = self.port.to_string();
        text.replace("HTTP", "http://127.0.0.1:PORT").replace("PORT", &port)
    }

    /// Every connection by its first line. First it connects itself, as a control: the system
    /// accepts in order, so every earlier connection is read before the control.
    pub fn hits(&self) -> Vec<String> {
        let streams = self.listeners.iter().flat_map(connections);
        let datagrams = self.sockets.iter().flat_map(datagrams);
        streams.chain(datagrams).collect()
    }
}

fn connections(listener: &TcpListener) -> Vec<String> {
    let address = listener.local_addr().unwrap();
    let control = TcpStream::connect(address).unwrap().local_addr().unwrap();
    let mut heard = Vec::new();
    loop {
        let (stream, from) = listener.accept().unwrap();
        if from == control {
            return heard;
        }
        heard.push(format!("{address}: {}", first_line(stream)));
    }
}

fn first_line(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut bytes = [0; 1_000];
    let length = stream.read(&mut bytes).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).lines().next().unwrap_or("a connection").to_owned()
}

fn datagrams(socket: &UdpSocket) -> Vec<String> {
    let address = socket.local_addr().unwrap();
    let control = UdpSocket::bind((address.ip(), 0)).unwrap();
    control.send_to(b"control", address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let started = Instant::now();
    let mut heard = Vec::new();
    loop {
        match socket.recv_from(&mut [0; 1_500]) {
            Ok((_, from)) if from == control.local_addr().unwrap() => return heard,
            Ok((length, _)) => heard.push(format!("{address}: a datagram of {length} bytes")),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("{address} is deaf: {error}"),
        }
        assert!(started.elapsed() < PATIENCE, "{address} is deaf");
    }
}

#[test]
fn a_canary_counts_every_connection() {
    let canary = Canary::listen();
    assert_eq!(canary.hits(), [""; 0]);
    for host in ["127.0.0.1", "127.0.0.2", "[::1]"] {
        let mut stream = TcpStream::connect(format!("{host}:{}", canary.port)).unwrap();
        std::io::Write::write_all(&mut stream, b"GET /x HTTP/1.1\r\n\r\n").unwrap();
    }
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(b"one", (Ipv4Addr::LOCALHOST, canary.port)).unwrap();
    let hits = canary.hits();
    assert_eq!(hits.len(), 4, "{hits:?}");
    assert!(hits[..3].iter().all(|hit| hit.ends_with("GET /x HTTP/1.1")), "{hits:?}");
}
