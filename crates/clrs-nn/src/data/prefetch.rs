//! Prefetching: a separate thread prepares batches while the network trains on earlier ones.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::batch::ModelBatch;
use super::chunk::{Chunk, ChunkLoader};
use super::error::DataError;
use super::loader::BatchLoader;
use crate::config::recipe::Recipe;

/// The data of one update.
pub(crate) enum UpdateData {
    Batch(ModelBatch),
    Chunk {
        /// Number of the size among those of the algorithm.
        size: usize,
        chunk: Chunk,
    },
}

pub(crate) type Prefetched = Receiver<Result<UpdateData, DataError>>;

/// Starts a thread that prepares one batch per algorithm and step, beginning after `first_step` steps, a few batches ahead.
pub(crate) fn prefetch(loaders: Vec<Vec<BatchLoader>>, recipe: &Recipe, first_step: usize) -> Prefetched {
    let (sender, batches) = sync_channel(2 * loaders.len().max(1));
    let (lanes, length) = (recipe.batch_size, recipe.chunk_length);
    thread::spawn(move || {
        let mut queues: Vec<Queue> = loaders.into_iter().map(|loaders| Queue::new(loaders, lanes, length)).collect();
        if let Err(error) = queues.iter_mut().try_for_each(|queue| queue.skip(first_step)) {
            let _ = sender.send(Err(error));
            return;
        }
        loop {
            for queue in &mut queues {
                let data = queue.next();
                // An error is the last message; the receiver is gone when training is over.
                let is_error = data.is_err();
                if sender.send(data).is_err() || is_error {
                    return;
                }
            }
        }
    });
    batches
}

/// The updates of one algorithm.
enum Queue {
    Batches(Box<BatchLoader>),
    /// Loaders of all sizes, in turn.
    Chunks {
        loaders: Vec<(BatchLoader, ChunkLoader)>,
        turn: usize,
    },
}

impl Queue {
    fn new(mut loaders: Vec<BatchLoader>, lanes: usize, length: usize) -> Queue {
        if length == 0 {
            return Queue::Batches(Box::new(loaders.remove(0)));
        }
        let loaders = loaders.into_iter().map(|loader| (loader, ChunkLoader::new(lanes, length))).collect();
        Queue::Chunks { loaders, turn: 0 }
    }

    fn next(&mut self) -> Result<UpdateData, DataError> {
        match self {
            Queue::Batches(loader) => Ok(UpdateData::Batch(ModelBatch::new(&loader.next()?))),
            Queue::Chunks { loaders, turn } => {
                let size = *turn;
                *turn = (*turn + 1) % loaders.len();
                let (loader, chunks) = &mut loaders[size];
                let chunk = chunks.next(|| Ok::<_, DataError>(ModelBatch::new(&loader.next()?)))?;
                Ok(UpdateData::Chunk { size, chunk })
            }
        }
    }

    /// Skips updates. Where a chunk ends is known only after its samples were solved, so chunks are prepared and dropped.
    fn skip(&mut self, count: usize) -> Result<(), DataError> {
        match self {
            Queue::Batches(loader) => loader.skip(count as u64),
            Queue::Chunks { .. } => (0..count).try_for_each(|_| self.next().map(drop)),
        }
    }
}
