import { expect, it, vi } from 'vitest';
import { seeSlowBrokers } from '../../../../src/kafka/patches/connection/see-slow-brokers.ts';
import { setTraffic, Traffic } from '../../../../src/kafka/traffic/traffic.ts';

const sockets = {};
const traffic = new Traffic();
setTraffic(sockets, traffic);

class RequestQueue {
  readonly inflight = new Map<number, Request>();
  readonly requestTimeout = 30_000;
  readonly enforceRequestTimeout = true;
  requestTimeoutIntervalId: NodeJS.Timeout | undefined;
  throttled: number[] = [];
  isConnected = () => true;
  destroy() {
    clearInterval(this.requestTimeoutIntervalId);
  }
  maybeThrottle(waitMs: number) {
    this.throttled.push(waitMs);
  }
  scheduleRequestTimeoutCheck() {}
}
class Request {
  readonly sentAt = Date.now();
  requestTimeout = 30_000;
  timedOutMs: number | undefined;
  readonly entry: { readonly apiKey: number };
  constructor(apiKey: number) {
    this.entry = { apiKey };
  }
  timeoutRequest() {
    this.timedOutMs ??= Date.now() - this.sentAt;
  }
}
class Connection {
  readonly requestQueue = new RequestQueue();
  readonly socketFactory = sockets;
  readonly socket = { bytesRead: 0 };
  async connect() {
    this.requestQueue.scheduleRequestTimeoutCheck();
  }
}
seeSlowBrokers(Connection, RequestQueue);

/** A connection with a request, on which bytes arrive each second for so long. */
async function receive(seconds: number, apiKey = 1): Promise<Request> {
  vi.useFakeTimers();
  try {
    const connection = new Connection();
    await connection.connect();
    const request = new Request(apiKey);
    connection.requestQueue.inflight.set(1, request);
    for (let second = 0; second < 200; second++) {
      if (second < seconds) connection.socket.bytesRead += 1_000;
      await vi.advanceTimersByTimeAsync(1_000);
    }
    connection.requestQueue.destroy();
    return request;
  } finally {
    vi.useRealTimers();
  }
}

it('ends a request without a response after its timeout', async () => {
  expect((await receive(0)).timedOutMs).toBe(30_100);
});

it('ends a request whose response stops to arrive a timeout later', async () => {
  expect((await receive(100)).timedOutMs).toBe(99_000 + 100 + 30_000 + 100);
});

it('lets a response arrive for as long as it does', async () => {
  const before = traffic.fetchedBytes;
  expect((await receive(200)).timedOutMs).toBeUndefined();
  expect(traffic.fetchedBytes - before).toBe(200_000);
});

it('counts bytes of fetches only', async () => {
  const before = traffic.fetchedBytes;
  await receive(10, 12);
  expect(traffic.fetchedBytes).toBe(before);
});

it('sees for how long a broker holds the client back', async () => {
  const connection = new Connection();
  await connection.connect();
  connection.requestQueue.destroy();
  connection.requestQueue.maybeThrottle(0);
  connection.requestQueue.maybeThrottle(60_000);
  expect(connection.requestQueue.throttled).toEqual([0, 60_000]);
  // As soon as it passes.
  const startMs = performance.now();
  await vi.waitFor(() => expect(traffic.throttledMs()).toBeGreaterThan(10), 5_000);
  expect(traffic.throttledMs()).toBeLessThanOrEqual(performance.now() - startMs + 1_000);
});
