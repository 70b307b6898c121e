//! A job's child, counted from when the job takes it or begins to start one: whoever looks meanwhile how many there are
//! would else start one too many.

use super::Pool;
use super::shelf::Shelf;

/// One child of [`Shelf::working`]. Dropped, it is not counted any more.
pub(super) struct Claim {
    pool: Option<Pool>,
}

impl Claim {
    /// Counts one more child of the pool, whose shelf this is.
    pub fn new(pool: &Pool, stock: &mut Shelf) -> Self {
        stock.working += 1;
        Self { pool: Some(pool.clone()) }
    }

    /// Gives it up with the shelf in hand, on which the child is put.
    pub fn give_up(mut self, stock: &mut Shelf) {
        self.pool = None;
        stock.working -= 1;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.shelf().working -= 1;
        }
    }
}
