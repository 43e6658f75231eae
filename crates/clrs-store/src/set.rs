use std::path::{Path, PathBuf};

use clrs::Trajectories;

use crate::error::{At, StoreError, StoreErrorKind};
use crate::native::{Header, SetReader};

/// A whole set: one file, or all its shards in order. What exports begin with.
pub struct Set {
    shards: Vec<SetReader>,
}

impl Set {
    /// Opens files, and puts the shards of each set together. Sets come in the order of their first file.
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Set>, StoreError> {
        let mut sets: Vec<Set> = Vec::new();
        for path in paths {
            let reader = SetReader::open(path)?;
            match sets.iter_mut().find(|set| set.header().name == reader.header().name) {
                Some(set) => set.shards.push(reader),
                None => sets.push(Set { shards: vec![reader] }),
            }
        }
        for set in &mut sets {
            set.shards.sort_by_key(|shard| shard_of(shard).0);
            set.is_whole()?;
        }
        Ok(sets)
    }

    /// What the set is, as its first shard says.
    pub fn header(&self) -> &Header {
        self.shards[0].header()
    }

    /// How many samples it says it has.
    pub fn samples(&self) -> u64 {
        self.shards.iter().map(SetReader::samples).sum()
    }

    /// The files.
    pub fn shards(&mut self) -> &mut [SetReader] {
        &mut self.shards
    }

    /// All samples, a record batch at a time.
    pub fn batches(&mut self) -> impl Iterator<Item = Result<Trajectories, StoreError>> {
        self.shards.iter_mut().flat_map(SetReader::batches)
    }

    /// All samples at once.
    pub fn read_all(&mut self) -> Result<Trajectories, StoreError> {
        let mut all = Trajectories::new(self.header().spec.clone());
        for runs in self.batches() {
            all.append(&runs?);
        }
        Ok(all)
    }

    /// Its first file: what messages are about.
    pub fn path(&self) -> &Path {
        self.shards[0].path()
    }

    /// Whether every shard is there once, and they belong together.
    fn is_whole(&self) -> Result<(), StoreError> {
        let (_, of) = shard_of(&self.shards[0]);
        for (place, shard) in self.shards.iter().enumerate() {
            let (index, others) = shard_of(shard);
            if others != of || shard.header().spec != self.header().spec {
                return Err(StoreErrorKind::Shards(format!("it does not belong to the same set as {}", self.path().display())))
                    .at(shard.path());
            }
            if index as usize != place {
                let fault = if (index as usize) < place { format!("shard {index} is there twice") } else { missing(place, of) };
                return Err(StoreErrorKind::Shards(fault)).at(shard.path());
            }
        }
        if self.shards.len() < of as usize {
            return Err(StoreErrorKind::Shards(missing(self.shards.len(), of))).at(self.path());
        }
        Ok(())
    }
}

fn shard_of(shard: &SetReader) -> (u32, u32) {
    shard.header().provenance.shard.unwrap_or((0, 1))
}

fn missing(shard: usize, of: u32) -> String {
    format!("shard {shard} of {of} of its set is not among the files")
}
