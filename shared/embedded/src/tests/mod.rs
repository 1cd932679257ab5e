//! What the store relies on, asked of both doors.

mod doors;
mod durability;
mod promises;
mod value;
mod wire;
