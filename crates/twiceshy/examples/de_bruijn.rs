//! A de Bruijn graph in a few bits a node, walked without one false step.
//!
//! The nodes of the graph are the 31-mers of a genome (in the smaller of both directions); two
//! are neighbours if one is the other moved on by a base. So the edges need not be stored: ask a
//! filter for the eight possible neighbours of a node. But a filter says "maybe" for some that are
//! not there, and an assembler that follows one walks into nowhere.
//!
//! Only *neighbours of true nodes* are ever asked for. Those of them that are no nodes, and that
//! the filter takes for some, are the critical false positives: they are the NO list. A filter that
//! adapts to them makes no new mistakes on others, so one pass finds all that there will ever be.
//!
//! ```sh
//! cargo run --release -p twiceshy --example de_bruijn                  # a made-up genome
//! cargo xtask data && cargo run --release -p twiceshy --example de_bruijn   # E. coli
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use twiceshy::hash::Xxh3;
use twiceshy::lists::static_::Like;
use twiceshy::lists::{StaticYesNo, YesNoList};

/// Bases of a node.
const K: u32 = 31;
const MASK: u64 = (1 << (2 * K)) - 1;

/// One in sixteen of all 31-mers may be taken for a node, as long as it is not asked for.
const FPR: f64 = 1.0 / 16.0;

/// A 31-mer, two bits a base, in the direction that makes the smaller number.
fn canonical(kmer: u64) -> u64 {
    let mut reversed = 0;
    for i in 0..K {
        // A, C, G, T are 0 to 3, so the complement is the opposite of both bits.
        let base = kmer >> (2 * i) & 3;
        reversed = reversed << 2 | (3 - base);
    }
    kmer.min(reversed)
}

/// All nodes of a genome in FASTA.
fn nodes(fasta: &str) -> HashSet<u64> {
    let mut nodes = HashSet::new();
    let (mut kmer, mut length) = (0_u64, 0);
    for line in fasta.lines() {
        if line.starts_with('>') {
            length = 0; // another molecule
            continue;
        }
        for base in line.bytes() {
            let bits = match base.to_ascii_uppercase() {
                b'A' => 0,
                b'C' => 1,
                b'G' => 2,
                b'T' => 3,
                _ => {
                    length = 0; // not known
                    continue;
                }
            };
            kmer = (kmer << 2 | bits) & MASK;
            length += 1;
            if length >= K {
                nodes.insert(canonical(kmer));
            }
        }
    }
    nodes
}

/// The eight that could be next to a node.
fn neighbours(kmer: u64) -> impl Iterator<Item = u64> {
    (0..4).flat_map(move |base| {
        let right = (kmer << 2 | base) & MASK;
        let left = kmer >> 2 | base << (2 * (K - 1));
        [canonical(right), canonical(left)]
    })
}

/// What became of a genome.
struct Graph {
    nodes: usize,
    critical: usize,
    bytes: u64,
}

fn explore(fasta: &str) -> Result<Graph, Box<dyn Error>> {
    let truth = nodes(fasta);
    let list: Vec<u64> = truth.iter().copied().collect();

    // First without a NO list, but with room for extensions: where would it be wrong?
    let builder = StaticYesNo::builder().hash::<Xxh3>().fpr(FPR);
    let mut headroom = 0.3;
    let (critical, graph) = loop {
        let alone = builder
            .clone()
            .headroom(headroom)
            .build(&list, &[0_u64; 0])?;
        let asked = list.iter().flat_map(|&node| neighbours(node));
        let wrong = asked.filter(|kmer| !truth.contains(kmer) && alone.contains(kmer));
        let critical: HashSet<u64> = wrong.collect();
        let no: Vec<u64> = critical.iter().copied().collect();
        // The same seed and geometry, adapted: its mistakes are some of those, and none of them.
        match alone.build_like(&list, &no, FPR)? {
            (graph, Like::Same) => break (critical, graph),
            (_, Like::Grown) => headroom *= 1.5,
        }
    };

    // A full traversal, which knows nothing but the filter and where to start.
    let mut visited = HashSet::new();
    for &start in &list {
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            if visited.insert(node) {
                let next = neighbours(node).filter(|kmer| graph.contains(kmer));
                stack.extend(next);
            }
        }
    }
    assert!(visited == truth, "exactly the true nodes");
    Ok(Graph {
        nodes: truth.len(),
        critical: critical.len(),
        bytes: graph.bytes(),
    })
}

fn report(name: &str, graph: &Graph) {
    println!(
        "{name}: {} nodes in {} bytes, {:.1} bits each; a traversal visits exactly them.\n  \
         A filter alone would have sent it to {} others",
        graph.nodes,
        graph.bytes,
        graph.bytes as f64 * 8.0 / graph.nodes as f64,
        graph.critical
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    report(
        "a made-up genome",
        &explore(include_str!("data/genome.fasta"))?,
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    match fs::read_to_string(folder.join("e-coli.fasta")) {
        Ok(fasta) => report("E. coli", &explore(&fasta)?),
        Err(_) => println!("E. coli: not here; `cargo xtask data` fetches it"),
    }
    Ok(())
}

#[test]
fn a_traversal_visits_exactly_the_true_nodes() {
    let graph = explore(include_str!("data/genome.fasta")).unwrap();
    assert!(graph.nodes > 8_500 && graph.critical > 1_000);
}
