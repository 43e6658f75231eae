//! Batches, made on a thread of their own while the network learns from those before.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::data::batch::Batch;
use crate::data::chunk::{Chunk, ChunkLoader};
use crate::data::loader::{DataError, BatchLoader};
use crate::config::recipe::Recipe;

/// What an update is made of.
pub(crate) enum Flops {
    Batch(Batch),
    /// With the place of its size.
    Chunk(usize, Chunk),
}

pub(crate) type Batches = Receiver<Result<Flops, DataError>>;

/// Makes batches on a thread of its own, a few ahead: one per algorithm and step, from a step on.
pub(crate) fn prefetch(sources: Vec<Vec<BatchLoader>>, recipe: &Recipe, first: usize) -> Batches {
    let (sender, batches) = sync_channel(2 * sources.len().max(1));
    let (lanes, length) = (recipe.batch_size, recipe.chunk_length);
    thread::spawn(move || {
        let mut queues: Vec<Queue> = sources.into_iter().map(|sources| Queue::new(sources, lanes, length)).collect();
        if let Err(error) = queues.iter_mut().try_for_each(|queue| queue.skip(first)) {
            let _ = sender.send(Err(error));
            return;
        }
        loop {
            for queue in &mut queues {
                let work = queue.next();
                // An error is the last thing that is sent, and no one receives when training is over.
                let is_error = work.is_err();
                if sender.send(work).is_err() || is_error {
                    return;
                }
            }
        }
    });
    batches
}

/// What comes next of one algorithm.
enum Queue {
    Batches(Box<BatchLoader>),
    /// A source and its lanes for every size, in turn.
    Chunks {
        sources: Vec<(BatchLoader, ChunkLoader)>,
        turn: usize,
    },
}

impl Queue {
    fn new(mut sources: Vec<BatchLoader>, lanes: usize, length: usize) -> Queue {
        if length == 0 {
            return Queue::Batches(Box::new(sources.remove(0)));
        }
        Queue::Chunks { sources: sources.into_iter().map(|source| (source, ChunkLoader::new(lanes, length))).collect(), turn: 0 }
    }

    fn next(&mut self) -> Result<Flops, DataError> {
        match self {
            Queue::Batches(source) => Ok(Flops::Batch(Batch::new(&source.next()?))),
            Queue::Chunks { sources, turn } => {
                let size = *turn;
                *turn = (*turn + 1) % sources.len();
                let (source, lanes) = &mut sources[size];
                Ok(Flops::Chunk(size, lanes.next(|| Ok::<_, DataError>(Batch::new(&source.next()?)))?))
            }
        }
    }

    /// Passes over what was seen. Where a chunk ends is known only when its samples have run.
    fn skip(&mut self, count: usize) -> Result<(), DataError> {
        match self {
            Queue::Batches(source) => source.skip(count as u64),
            Queue::Chunks { .. } => (0..count).try_for_each(|_| self.next().map(|_| ())),
        }
    }
}
