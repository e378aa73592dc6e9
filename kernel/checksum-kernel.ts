// CRC-32C of a block of bytes. AssemblyScript: `npm run generate:kernel` compiles it to WebAssembly, into
// src/kafka/protocol/checksum-kernel-wasm.ts.
//
// A CRC is the remainder of a polynomial over GF(2), whose coefficients are the bits, modulo P. P divides
//     x^209 + x^144 + x^54 + x^39 + x^14 + 1   and   x^79 + x^75 + x^71 + x^58 + x^18 + x^12 + x + 1.
// Over GF(2) it also divides them with all exponents multiplied by 128, a power of two. So a vector of 128
// bits may be replaced by adding it to five vectors behind it, or to seven, without shifting a bit. That
// shortens a block to 79 vectors; tables take these. The idea is from Russell, "Chorba: a novel CRC32
// implementation" (2024). The polynomials were found by search: the first of 6 terms and of 8 terms.

/** Tables of slicing-by-8 (Kounavis and Berry 2005), from address 0. */
const tables: usize = 8;
const tableBytes: usize = 1024;
/** P without x^32, its lowest coefficient in the highest bit. */
const polynomial: u32 = 0x82f63b78;

/** Address of the block, defined by src/kafka/protocol/crc32c.ts. The 209 vectors before it are zero. */
const block: usize = 12288;

const vectorBytes: usize = 16;
/** Distances of the vectors to be added to: 209, less the exponents of the first polynomial. */
const D1: usize = 65 * vectorBytes;
const D2: usize = 155 * vectorBytes;
const D3: usize = 170 * vectorBytes;
const D4: usize = 195 * vectorBytes;
const D5: usize = 209 * vectorBytes;
/** The longest distance by the second polynomial. */
const E7: usize = 79 * vectorBytes;

/** Fills the tables; must be called once, first. */
export function initialize(): void {
  for (let i: u32 = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? polynomial : 0);
    store<u32>((<usize>i) << 2, crc);
  }
  for (let at: usize = tableBytes; at < tables * tableBytes; at += 4) {
    const crc = load<u32>(at - tableBytes);
    store<u32>(at, (crc >>> 8) ^ entry(0, crc));
  }
}

/** Continues a checksum, not inverted, by the first bytes of the block, which it overwrites. */
export function update(crc: u32, bytes: usize): u32 {
  const end = block + bytes;
  if (bytes < 2 * E7) return sliced(crc, block, end);
  store<u32>(block, load<u32>(block) ^ crc);
  const vectorsEnd = end - (bytes & (vectorBytes - 1));
  const from = bytes < 2 * D5 ? block : foldLong(vectorsEnd);
  return sliced(0, foldShort(from, vectorsEnd), end);
}

/** Adds each vector to later ones, until 209 are left. Returns the address of the first of these. */
function foldLong(end: usize): usize {
  const stop = end - D5;
  for (let at = block; at < stop; at += vectorBytes) {
    const near = v128.xor(v128.load(at - D1), v128.load(at - D2));
    const far = v128.xor(v128.load(at - D3), v128.load(at - D4));
    const own = v128.xor(v128.load(at - D5), v128.load(at));
    v128.store(at, v128.xor(v128.xor(near, far), own));
  }
  fetch(stop, D1);
  fetch(stop, D2);
  fetch(stop, D3);
  fetch(stop, D4);
  fetch(stop, D5);
  return stop;
}

/** Adds the vectors at a distance before `stop` to those that are left. */
function fetch(stop: usize, distance: usize): void {
  for (let at = stop; at < stop + distance; at += vectorBytes) add(at, v128.load(at - distance));
}

/** Adds each vector to later ones, until 79 are left. Returns the address of the first of these. */
function foldShort(from: usize, end: usize): usize {
  let at = from;
  for (; at < end - E7; at += vectorBytes) {
    const vector = v128.load(at);
    add(at + 4 * vectorBytes, vector);
    add(at + 8 * vectorBytes, vector);
    add(at + 21 * vectorBytes, vector);
    add(at + 61 * vectorBytes, vector);
    add(at + 67 * vectorBytes, vector);
    add(at + 78 * vectorBytes, vector);
    add(at + E7, vector);
  }
  return at;
}

function add(at: usize, vector: v128): void {
  v128.store(at, v128.xor(v128.load(at), vector));
}

function sliced(start: u32, from: usize, end: usize): u32 {
  let crc = start;
  let at = from;
  for (; at + 8 <= end; at += 8) {
    const low = load<u32>(at) ^ crc;
    const high = load<u32>(at, 4);
    crc =
      entry(7, low) ^
      entry(6, low >>> 8) ^
      entry(5, low >>> 16) ^
      entry(4, low >>> 24) ^
      entry(3, high) ^
      entry(2, high >>> 8) ^
      entry(1, high >>> 16) ^
      entry(0, high >>> 24);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ entry(0, crc ^ load<u8>(at));
  return crc;
}

function entry(table: usize, byte: u32): u32 {
  return load<u32>(table * tableBytes + ((<usize>(byte & 0xff)) << 2));
}
