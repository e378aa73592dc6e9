import { checksumKernelWasm } from './checksum-kernel-wasm.ts';

/** Address of the kernel's block, as in kernel/checksum-kernel.ts, and bytes that fit into its memory. */
const BLOCK = 12_288;
const BLOCK_BYTES = 262_144;

interface Exports {
  readonly memory: WebAssembly.Memory;
  initialize(): void;
  update(crc: number, bytes: number): number;
}

let kernel: { readonly exports: Exports; readonly memory: Uint8Array } | undefined;

/**
 * Returns the CRC-32C (Castagnoli; RFC 3720, B.4) of some bytes: an unsigned integer.
 *
 * Bytes are copied into the kernel's memory, 256 KiB at a time. Measured on one shared core of an AMD EPYC,
 * copy included: 1.2 GB/s for 300 bytes, 4.5 GB/s for 16 KiB, 7 GB/s from 64 KiB on. That is 40 ns per record
 * of 290 bytes in a large uncompressed batch. `zlib.crc32`, of another polynomial, takes 60 ns.
 *
 * @throws where there is no WebAssembly.
 */
export function crc32c(bytes: Uint8Array): number {
  kernel ??= loadKernel();
  const { exports, memory } = kernel;
  let crc = -1;
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    memory.set(part, BLOCK);
    crc = exports.update(crc, part.length);
  }
  return ~crc >>> 0;
}

function loadKernel() {
  const module = new WebAssembly.Module(Buffer.from(checksumKernelWasm, 'base64'));
  const exports = new WebAssembly.Instance(module).exports as Exports;
  exports.initialize();
  return { exports, memory: new Uint8Array(exports.memory.buffer) };
}
