import { type Traffic, trafficOf } from '../../traffic/traffic.ts';
import { type Patchable, patchOnce } from '../patch-once.ts';

const FETCH_KEY = 1;
const CHECK_MS = 100;

/** The used part of kafkajs' `SocketRequest` (src/network/requestQueue/socketRequest.js). */
interface SocketRequest {
  readonly entry: { readonly apiKey: number };
  readonly sentAt: number;
  requestTimeout: number;
  timeoutRequest(): void;
}

/** The used part of kafkajs' `RequestQueue` (src/network/requestQueue/index.js). */
interface RequestQueue {
  readonly inflight: ReadonlyMap<number, SocketRequest>;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  requestTimeoutIntervalId: NodeJS.Timeout | undefined;
  isConnected(): boolean;
  destroy(): void;
  maybeThrottle(clientSideThrottleMs: number): void;
  scheduleRequestTimeoutCheck(): void;
}

/** The used part of kafkajs' `Connection` (src/network/connection.js). */
interface Connection {
  readonly requestQueue: RequestQueue;
  readonly socketFactory: object;
  readonly socket: { readonly bytesRead: number } | undefined;
  connect(): Promise<unknown>;
}

/** The source of the bytes of a queue of requests, and their counter. */
interface Feed {
  readonly bytesRead: () => number;
  readonly traffic: Traffic | undefined;
}

/**
 * Shows how brokers and the network hold a client back, and lets slow responses arrive. kafkajs 2.2.4 logs the
 * time for which a broker throttles it, and no more. It ends a request 30 s after it was sent, even where its
 * response is arriving over a thin link. The next request then asks for the same, and gets no further.
 */
export function seeSlowBrokers(
  connection: Patchable<Connection>,
  requestQueue: Patchable<RequestQueue>,
  nowMs = () => Date.now(),
): void {
  const feeds = new WeakMap<RequestQueue, Feed>();
  patchOnce(connection, 'seeSlowBrokers', ['connect'], ({ connect }) => ({
    connect(this: Connection) {
      feeds.set(this.requestQueue, {
        bytesRead: () => this.socket?.bytesRead ?? 0,
        traffic: trafficOf(this.socketFactory),
      });
      return connect.call(this);
    },
  }));
  const methods = ['maybeThrottle', 'scheduleRequestTimeoutCheck'] as const;
  patchOnce(requestQueue, 'seeSlowBrokers', methods, ({ maybeThrottle }) => ({
    maybeThrottle(this: RequestQueue, waitMs: number) {
      maybeThrottle.call(this, waitMs);
      if (waitMs > 0) feeds.get(this)?.traffic?.throttle(waitMs);
    },
    scheduleRequestTimeoutCheck(this: RequestQueue) {
      if (!this.enforceRequestTimeout) return;
      this.destroy();
      const { bytesRead = () => 0, traffic } = feeds.get(this) ?? {};
      let before = bytesRead();
      const check = () => {
        const arrived = bytesRead() - before;
        before += arrived;
        for (const request of this.inflight.values()) {
          const ageMs = nowMs() - request.sentAt;
          // Responses come in the order of requests, so all of them wait for the one that arrives.
          if (arrived > 0)
            request.requestTimeout = Math.max(request.requestTimeout, ageMs + this.requestTimeout);
          if (arrived > 0 && request.entry.apiKey === FETCH_KEY && traffic !== undefined) {
            traffic.fetchedBytes += arrived;
          }
          if (ageMs > request.requestTimeout) request.timeoutRequest();
        }
        if (!this.isConnected()) this.destroy();
      };
      this.requestTimeoutIntervalId = setInterval(check, Math.min(this.requestTimeout, CHECK_MS));
    },
  }));
}
