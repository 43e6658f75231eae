//! `TFRecord` files: every record has its length in front, and both have a checksum.

use std::io::{self, Read, Write};

use super::RecordError;

/// Bytes of a record besides its contents.
pub(super) const OVERHEAD: u64 = 16;

/// Masked CRC-32C: rotated and shifted, since a CRC of data that contains its own CRC is weak.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// Writes a record. `TensorBoard` reads files of such records too.
pub fn write_record(file: &mut impl Write, record: &[u8]) -> io::Result<()> {
    let length = (record.len() as u64).to_le_bytes();
    file.write_all(&length)?;
    file.write_all(&checksum(&length))?;
    file.write_all(record)?;
    file.write_all(&checksum(record))
}

/// Reads records from a file of known length.
pub(super) struct Records<R> {
    file: R,
    left: u64,
    record: Vec<u8>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(file: R, length: u64) -> Records<R> {
        Records { file, left: length, record: Vec::new() }
    }

    /// Returns the next record, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, RecordError> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut head = [0; 12];
        self.left = self.left.checked_sub(OVERHEAD).ok_or(RecordError::Truncated)?;
        self.file.read_exact(&mut head)?;
        let (length, sum) = head.split_at(8);
        if sum != checksum(length) {
            return Err(RecordError::Checksum);
        }
        let length = u64::from_le_bytes(length.try_into().expect("it has eight bytes"));
        self.left = self.left.checked_sub(length).ok_or(RecordError::Truncated)?;
        self.record.clear();
        self.record.resize(usize::try_from(length).map_err(|_| RecordError::Truncated)?, 0);
        self.file.read_exact(&mut self.record)?;
        let mut sum = [0; 4];
        self.file.read_exact(&mut sum)?;
        if sum != checksum(&self.record) {
            return Err(RecordError::Checksum);
        }
        Ok(Some(&self.record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip_and_changes_are_detected() {
        let mut file = Vec::new();
        for record in [&b"first"[..], b"", b"third"] {
            write_record(&mut file, record).expect("written");
        }
        let read = |bytes: &[u8]| {
            let mut records = Records::new(bytes, bytes.len() as u64);
            let mut all = Vec::new();
            while let Some(record) = records.next()? {
                all.push(record.to_vec());
            }
            Ok::<_, RecordError>(all)
        };
        assert_eq!(read(&file).expect("complete"), [&b"first"[..], b"", b"third"]);
        for index in 0..file.len() {
            let mut changed = file.clone();
            changed[index] ^= 1;
            assert!(read(&changed).is_err());
        }
        // A file that ends between two records is valid: that is found by the number of samples.
        let between = [0, 21, 37, file.len()];
        for end in (0..file.len()).filter(|end| !between.contains(end)) {
            assert!(read(&file[..end]).is_err());
        }
    }

    #[test]
    fn checksums_are_those_of_tensorflow() {
        // Checksum of the length of a record of two bytes, as TensorFlow writes it.
        let mut file = Vec::new();
        write_record(&mut file, b"ab").expect("written");
        assert_eq!(file[8..12], checksum(&2u64.to_le_bytes()));
        assert_eq!(checksum(b"123456789"), 0xe306_9283u32.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
    }
}
