//! Connects to a host with several addresses, some of which may be dead ("happy eyeballs", RFC 8305).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::sleep;

/// Delay before the next address is tried in parallel (RFC 8305 §5).
const STAGGER: Duration = Duration::from_millis(250);

/// The first successful connection to one of `addresses`. Each is tried when the previous one has failed or has not answered
/// for a while. The others are dropped.
///
/// # Errors
/// The last one, if all fail.
pub(super) async fn first_of<T, F>(
    addresses: &[SocketAddr],
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let mut next = alternating(addresses).into_iter();
    let mut begun: FuturesUnordered<_> = next.next().map(&connect).into_iter().collect();
    while !begun.is_empty() {
        let failed = tokio::select! {
            Some(connected) = begun.next() => match connected {
                Ok(stream) => return Ok(stream),
                Err(error) => Some(error),
            },
            () = sleep(STAGGER), if next.len() > 0 => None,
        };
        match (next.next(), failed) {
            (Some(address), _) => begun.push(connect(address)),
            (None, Some(error)) if begun.is_empty() => return Err(error),
            (None, _) => {}
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrNotAvailable, "the host has no address"))
}

/// IPv4 and IPv6 addresses in turn, because one kind may not be routed at all (RFC 8305 §4).
fn alternating(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let kind = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (same, other): (Vec<_>, Vec<_>) = addresses.iter().partition(|address| address.is_ipv4() == kind);
    let mut ordered: Vec<(usize, SocketAddr)> =
        same.into_iter().enumerate().chain(other.into_iter().enumerate()).collect();
    ordered.sort_by_key(|(rank, _)| *rank);
    ordered.into_iter().map(|(_, address)| address).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::Instant;

    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn ipv4_and_ipv6_addresses_alternate() {
        let given = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "1.1.1.2:1"]);
        let ordered = addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "1.1.1.2:1", "[::3]:1"]);
        assert_eq!(alternating(&given), ordered);
    }

    /// The test address's port decides: 1 fails at once, 2 never answers, others answer after so many ms.
    async fn behave(address: SocketAddr) -> io::Result<u16> {
        match address.port() {
            1 => Err(io::ErrorKind::ConnectionRefused.into()),
            2 => std::future::pending().await,
            after_ms => {
                sleep(Duration::from_millis(after_ms.into())).await;
                Ok(after_ms)
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_address_delays_the_next_and_a_refusing_one_does_not() {
        for (ports, won, after_ms) in [
            (&[10][..], Some(10), 10),
            (&[2, 10], Some(10), 260),
            (&[1, 10], Some(10), 10),
            (&[2, 1, 2, 10], Some(10), 510),
            (&[400, 10], Some(10), 260),
            (&[300, 100], Some(300), 300),
            (&[1, 1], None, 0),
        ] {
            let begun = Instant::now();
            let given: Vec<_> = ports.iter().map(|port| SocketAddr::from(([1, 1, 1, 1], *port))).collect();
            let tried = Mutex::new(Vec::new());
            let made = first_of(&given, |address| {
                tried.lock().unwrap().push(address);
                behave(address)
            });
            assert_eq!(made.await.ok(), won, "{ports:?}");
            assert_eq!(begun.elapsed().as_millis(), after_ms, "{ports:?}");
            assert_eq!(*tried.lock().unwrap(), given, "{ports:?}: each once, and nothing else");
        }
        assert!(first_of(&[], behave).await.is_err());
    }
}
