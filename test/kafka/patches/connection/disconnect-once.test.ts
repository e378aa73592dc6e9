import { expect, it } from 'vitest';
import { disconnectOnce } from '../../../../src/kafka/patches/connection/disconnect-once.ts';

/** kafkajs' connection, as far as it disconnects. */
function connectionOf() {
  class Connection {
    socket: object | undefined = {};
    connectionStatus = 'disconnected';
    disconnects = 0;
    answer: () => void = () => undefined;
    async disconnect(): Promise<unknown> {
      this.disconnects++;
      this.connectionStatus = 'disconnecting';
      await new Promise<void>((resolve) => {
        this.answer = resolve;
      });
      this.connectionStatus = 'disconnected';
      return true;
    }
  }
  disconnectOnce(Connection);
  return new Connection();
}

it('ends a socket once, however many disconnect it', async () => {
  const connection = connectionOf();
  const waits = Array.from({ length: 20 }, () => connection.disconnect());
  expect(connection.disconnects).toBe(1);
  connection.answer();
  expect(await Promise.all(waits)).toEqual(new Array(20).fill(true));
  expect(await connection.disconnect()).toBe(true);
  expect(connection.disconnects).toBe(1);
});

it('ends the next socket, and one that was connected late', async () => {
  const connection = connectionOf();
  const first = connection.disconnect();
  connection.answer();
  await first;
  connection.connectionStatus = 'connected';
  const late = connection.disconnect();
  connection.answer();
  await late;
  expect(connection.disconnects).toBe(2);
  connection.socket = {};
  void connection.disconnect();
  expect(connection.disconnects).toBe(3);
});
