import { type Patchable, patchOnce } from './patch-once.ts';

/** As much of kafkajs' `Connection` as is needed; src/network/connection.js there. */
interface Connection {
  chunks: Buffer[];
  readonly bytesBuffered: number;
  processData(bytes: Buffer): void;
}

/**
 * Has a connection take a whole frame as it is. kafkajs 2.2.4 keeps the empty rest of the frame before
 * (connection.js, `processData`), and copies the next one behind it.
 */
export function takeFramesWhole(connection: Patchable<Connection>): void {
  patchOnce(connection, 'takeFramesWhole', ['processData'], ({ processData }) => ({
    processData(this: Connection, bytes: Buffer) {
      if (this.bytesBuffered === 0) this.chunks = [];
      processData.call(this, bytes);
    },
  }));
}
