//! The filter of a store, all shards of it, as one file.
//!
//! ```text
//!   byte  0         8        24      32            36
//!         | twshimg1 | id 16 | epoch | generations | generation … | checksum
//!
//!   generation  | table u8 | seed 16 | choice u8 | remainder bits u32 | bits u32 | 2^bits shards
//!   shard       | records u64 | length u64 | filter file | growing u8 | (frontier u64 | length u64 | filter file)
//! ```
//!
//! Little-endian; the checksum is the XXH3-64 of all bytes before it. *Epoch* ties the file to
//! a state of the engine: it is that of the entry `checkpoint` in the engine's table, or 0 if
//! the file is of no such state and only says what was learnt.

use twiceshy::hash::Seed;
use xxhash_rust::xxh3::xxh3_64;

use crate::engine::Table;
use crate::filter::{FilterChoice, Measures};
use crate::generation::{Generation, Place};
use crate::meta::Series;

const MAGIC: [u8; 8] = *b"twshimg1";

/// More bits than any store has for its shards.
const MAX_BITS: u32 = 16;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Image<'b> {
    pub(crate) id: [u8; 16],
    pub(crate) epoch: u64,
    pub(crate) generations: Vec<GenerationImage<'b>>,
}

#[derive(Debug)]
pub(crate) struct GenerationImage<'b> {
    pub(crate) table: Table,
    pub(crate) measures: Measures,
    pub(crate) bits: u32,
    pub(crate) shards: Vec<ShardImage<'b>>,
}

#[derive(Debug)]
pub(crate) struct ShardImage<'b> {
    pub(crate) records: u64,
    pub(crate) filter: &'b [u8],
    /// Frontier and larger filter.
    pub(crate) growth: Option<(u64, &'b [u8])>,
}

impl<'b> GenerationImage<'b> {
    pub(crate) fn series(&self) -> Series {
        Series {
            table: self.table,
            seed: self.measures.seed,
        }
    }

    /// A shard of a generation of as many.
    pub(crate) fn shard(&self, place: Place) -> &ShardImage<'b> {
        &self.shards[place.index as usize]
    }
}

impl<'b> Image<'b> {
    /// The generation of this table and seed, if it is in it.
    pub(crate) fn of(&self, series: &Series) -> Option<&GenerationImage<'b>> {
        (self.generations.iter()).find(|generation| generation.series() == *series)
    }
}

/// The file of these generations.
pub(crate) fn encode<'g>(
    id: &[u8; 16],
    epoch: u64,
    generations: impl ExactSizeIterator<Item = &'g Generation>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(id);
    bytes.extend_from_slice(&epoch.to_le_bytes());
    bytes.extend_from_slice(&(generations.len() as u32).to_le_bytes());
    for generation in generations {
        let measures = &generation.measures;
        bytes.push(generation.table.index() as u8);
        bytes.extend_from_slice(&measures.seed.to_bytes());
        bytes.push(code(measures.choice));
        bytes.extend_from_slice(&measures.remainder_bits.to_le_bytes());
        bytes.extend_from_slice(&generation.bits().to_le_bytes());
        for shard in generation.shards() {
            let (filter, growth) = shard.image();
            bytes.extend_from_slice(&shard.counters.records().to_le_bytes());
            bytes.extend_from_slice(&(filter.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&filter);
            bytes.push(u8::from(growth.is_some()));
            if let Some((frontier, filter)) = growth {
                bytes.extend_from_slice(&frontier.to_le_bytes());
                bytes.extend_from_slice(&(filter.len() as u64).to_le_bytes());
                bytes.extend_from_slice(&filter);
            }
        }
    }
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// What a file says; `None` if it is damaged or none of ours. The filters in it are not looked
/// at.
pub(crate) fn decode(bytes: &[u8]) -> Option<Image<'_>> {
    let (body, checksum) = bytes.split_last_chunk()?;
    if u64::from_le_bytes(*checksum) != xxh3_64(body) {
        return None;
    }
    let mut reader = Reader(body);
    if reader.array()? != MAGIC {
        return None;
    }
    let image = Image {
        id: reader.array()?,
        epoch: reader.u64()?,
        generations: (0..reader.u32()?)
            .map(|_| decode_generation(&mut reader))
            .collect::<Option<_>>()?,
    };
    reader.0.is_empty().then_some(image)
}

fn decode_generation<'b>(reader: &mut Reader<'b>) -> Option<GenerationImage<'b>> {
    let [table] = reader.array()?;
    let table = *Table::ALL.get(usize::from(table))?;
    let seed = Seed::from_bytes(reader.array()?);
    let [choice] = reader.array()?;
    let measures = Measures {
        choice: choice_of(choice)?,
        seed,
        remainder_bits: reader.u32()?,
    };
    let bits = reader.u32()?;
    if bits > MAX_BITS {
        return None;
    }
    let shards = (0..1_u32 << bits)
        .map(|_| {
            Some(ShardImage {
                records: reader.u64()?,
                filter: reader.sized()?,
                growth: match reader.array()? {
                    [0] => None,
                    [1] => Some((reader.u64()?, reader.sized()?)),
                    _ => return None,
                },
            })
        })
        .collect::<Option<_>>()?;
    Some(GenerationImage {
        table,
        measures,
        bits,
        shards,
    })
}

fn code(choice: FilterChoice) -> u8 {
    match choice {
        FilterChoice::None => 0,
        FilterChoice::Plain => 1,
        FilterChoice::Adaptive => 2,
    }
}

fn choice_of(code: u8) -> Option<FilterChoice> {
    Some(match code {
        0 => FilterChoice::None,
        1 => FilterChoice::Plain,
        2 => FilterChoice::Adaptive,
        _ => return None,
    })
}

/// Takes bytes from the front, as many as there are.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length and as many bytes.
    fn sized(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.u64()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }
}
