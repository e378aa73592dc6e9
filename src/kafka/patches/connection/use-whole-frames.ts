import { type Patchable, patchOnce } from '../patch-once.ts';

/** The used part of kafkajs' `Connection` (src/network/connection.js). */
interface Connection {
  chunks: Buffer[];
  readonly bytesBuffered: number;
  processData(bytes: Buffer): void;
}

/**
 * Makes a connection use a whole frame without a copy. kafkajs 2.2.4 keeps the empty rest of the previous
 * frame (connection.js, `processData`) and copies the next frame behind it.
 */
export function useWholeFrames(connection: Patchable<Connection>): void {
  patchOnce(connection, 'useWholeFrames', ['processData'], ({ processData }) => ({
    processData(this: Connection, bytes: Buffer) {
      if (this.bytesBuffered === 0) this.chunks = [];
      processData.call(this, bytes);
    },
  }));
}
