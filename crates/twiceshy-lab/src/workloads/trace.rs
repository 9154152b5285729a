//! Synthetic packet traces: what a filter in a router sees.
//!
//! The papers replay packets recorded by CAIDA, which nobody may pass on. This model has the two
//! properties of such traces that a filter feels:
//!
//! - *Heavy-tailed flows.* A flow has at least `k` packets with probability `k^-tail`, up to a
//!   largest one: most are a packet or two, and a few carry most of the traffic. (Measured tails
//!   of flow sizes are near 1; 1.1 is the default, which gives about eight packets a flow.)
//! - *Temporal locality.* So many flows are open at a time, and packets come in trains: the next
//!   one is of the same flow as the last, if that has any left, with probability `1 - n^-train`
//!   for a flow of `n` packets, and otherwise of an open flow drawn at random. So, with the
//!   default of ½, a flow of `n` packets is sent in about `√n` trains of `√n`: who sends much
//!   sends fast. A flow that ends is replaced by a new one, and its key never comes back.
//!
//! Every flow is a key of its own. What the model leaves out: hosts that open many flows, and
//! the hours of the day.

use anyhow::Result;

use super::random::Random;
use super::{Entry, Parameters, Queries};

pub(super) const ENTRY: Entry = Entry {
    name: "trace",
    about: "packets of flows: heavy-tailed sizes, and trains of packets of the open ones",
    parameters: &[
        ("live", 4_096.0),
        ("tail", 1.1),
        ("largest", 1e6),
        ("train", 0.5),
    ],
    open,
};

fn open(parameters: &Parameters, seed: u64) -> Result<Queries<'static>> {
    Ok(Box::new(Trace::new(
        parameters.count("live", 1)?,
        parameters.positive("tail")?,
        parameters.count("largest", 1)?,
        parameters.share("train")?,
        seed,
    )))
}

/// An open flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    number: u64,
    left: u32,
    /// The probability that the next packet is of this flow, too.
    stay: f64,
}

struct Trace {
    tail: f64,
    largest: u32,
    train: f64,
    open: Vec<Flow>,
    /// The place of the flow that sent the last packet.
    last: usize,
    /// The number of that flow.
    sent: u64,
    started: u64,
    random: Random,
}

impl Trace {
    fn new(live: u32, tail: f64, largest: u32, train: f64, seed: u64) -> Self {
        let mut trace = Trace {
            tail,
            largest,
            train,
            open: Vec::new(),
            last: 0,
            sent: u64::MAX,
            started: 0,
            random: Random::new(seed, 0x7472_6163),
        };
        for _ in 0..live {
            let flow = trace.start();
            trace.open.push(flow);
        }
        trace
    }

    fn start(&mut self) -> Flow {
        let size = self.size();
        self.started += 1;
        Flow {
            number: self.started - 1,
            left: size,
            stay: 1.0 - f64::from(size).powf(-self.train),
        }
    }

    /// By inversion: `u^(-1/tail)`, rounded down, is at least `k` with probability `k^-tail`.
    fn size(&mut self) -> u32 {
        let uniform = 1.0 - self.random.unit();
        uniform.powf(-1.0 / self.tail).min(self.largest.into()) as u32
    }
}

impl Iterator for Trace {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        // A new flow may have the place of one that has ended; it is drawn like any other.
        let stays = self.open[self.last].number == self.sent && {
            let stay = self.open[self.last].stay;
            self.random.chance(stay)
        };
        if !stays {
            self.last = self.random.below(self.open.len() as u64) as usize;
        }
        let flow = &mut self.open[self.last];
        flow.left -= 1;
        let Flow { number, left, .. } = *flow;
        self.sent = number;
        if left == 0 {
            self.open[self.last] = self.start();
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{assert_drawn, tolerance};
    use super::*;

    #[test]
    fn sizes_have_the_tail_that_they_should() {
        let (tail, largest) = (1.1, 1_000);
        let mut trace = Trace::new(1, tail, largest, 0.5, 1);
        let ends = [1, 2, 4, 10, 100, 999, largest];
        let mut counts = [0; 7];
        for _ in 0..500_000 {
            let size = trace.size();
            assert!((1..=largest).contains(&size));
            counts[ends.partition_point(|&end| end < size)] += 1;
        }
        // At most `end` packets: not at least one more; the largest takes all above.
        let at_most = |end: u32| match end == largest {
            true => 1.0,
            false => 1.0 - f64::from(end + 1).powf(-tail),
        };
        let mut before = 0.0;
        let shares = ends.map(|end| {
            let share = at_most(end) - before;
            before = at_most(end);
            share
        });
        assert_drawn(&shares, &counts);
    }

    #[test]
    fn packets_come_in_trains_of_open_flows() {
        let (live, packets) = (100_u32, 400_000);
        let mut trace = Trace::new(live, 1.1, 1_000_000, 0.5, 2);
        let mut numbers: Vec<u64> = Vec::new();
        let (mut stays, mut expected) = (0, 0.0);
        for _ in 0..packets {
            // Whoever has packets left stays by chance, or is drawn again.
            let open = trace.open[trace.last];
            if open.number == trace.sent {
                expected += open.stay + (1.0 - open.stay) / f64::from(live);
            }
            let number = trace.next().unwrap();
            stays += u64::from(numbers.last() == Some(&number));
            numbers.push(number);
        }
        let off = (stays as f64 - expected).abs();
        assert!(
            off <= tolerance(packets, 0.5, 1),
            "{stays}, not {expected:.0}"
        );
        assert!(stays > packets / 2, "{stays} of {packets}");

        // Who has sent its last packet is never seen again: at no time are more than `live`
        // flows between their first and their last packet.
        let flows = numbers.iter().max().map_or(0, |&last| last as usize + 1);
        let mut spans = vec![(usize::MAX, 0); flows];
        for (time, &number) in numbers.iter().enumerate() {
            let (first, last) = &mut spans[number as usize];
            (*first, *last) = ((*first).min(time), time);
        }
        let mut changes: Vec<(usize, i32)> = Vec::new();
        for &(first, last) in spans.iter().filter(|span| span.0 != usize::MAX) {
            changes.extend([(first, 1), (last + 1, -1)]);
        }
        changes.sort_unstable();
        let mut open = 0;
        for (_, change) in changes {
            open += change;
            assert!(open <= live as i32);
        }
    }

    #[test]
    fn few_flows_have_most_of_the_packets() {
        let mut trace = Trace::new(4_096, 1.1, 1_000_000, 0.5, 3);
        let mut counts = vec![0_u64; 1_000_000];
        (0..1_000_000).for_each(|_| counts[trace.next().unwrap() as usize] += 1);
        counts.retain(|&count| count > 0);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let top: u64 = counts[..counts.len() / 20].iter().sum();
        assert!(
            top > 500_000,
            "5% of the flows have {top} of a million packets"
        );
        let once = counts.iter().filter(|&&count| count == 1).count();
        assert!(once * 2 > counts.len(), "{once} of {} flows", counts.len());
    }
}
