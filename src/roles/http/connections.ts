import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import { minuteMs } from '../../base/time.ts';

export interface ConnectionLimits {
  /** Most open connections. */
  readonly connections: number;
  /** Most requests of a connection that have no answer yet. */
  readonly unanswered: number;
  /** A connection that waits for a request for less than this may still be about to send it. */
  readonly sendingMs: number;
  /** An answer that takes longer than this is read too slowly, or asked for by half a body. */
  readonly answeringMs: number;
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits;
  readonly clock: Pick<Clock, 'elapsedMs'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'httpClosedConnections'>;
}

/** A connection with a whole request. */
interface Busy {
  /** Time at which the answer to the oldest request began. */
  readonly sinceMs: number;
  /** Requests without an answer. The first one is being answered. */
  readonly unanswered: (() => void)[];
}

const reasons = {
  limit: 'connections were closed to make room: as many are open as there may be',
  pipelined: 'connections were closed: their clients sent too many requests ahead of the answers',
} as const;

/**
 * The open connections of a server. A newcomer is always taken: the connection that has waited longest
 * without a whole request makes room. Requests of one connection are answered one after the other, and not at
 * all once it is closed. All costs are constant.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  /** Times since when connections wait for a whole request, the oldest first. */
  readonly #waiting = new Map<Socket, number>();
  /** The one whose answer began first comes first. */
  readonly #busy = new Map<Socket, Busy>();
  readonly #reported = new Map<keyof typeof reasons, { atMs: number; closed: number }>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Follows the connections of a server. */
  follow(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const { connections } = this.#options.limits;
      if (this.#waiting.size + this.#busy.size >= connections) this.#makeRoom();
      this.#waiting.set(socket, this.#nowMs);
      socket.once('close', () => this.#forget(socket));
    });
  }

  /** True while a connection has a request without an answer. */
  isBusy(socket: Socket): boolean {
    return this.#busy.has(socket);
  }

  /** Answers a request when those before it on its connection have their answers. */
  answer({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    // The parser goes on with what it has read of a connection that is closed by now.
    if (socket.destroyed) return;
    const busy = this.#busy.get(socket);
    if (busy !== undefined && busy.unanswered.length >= this.#options.limits.unanswered) {
      this.#close(socket, 'pipelined');
      return;
    }
    response.once('close', () => this.#answered(socket));
    if (busy === undefined) this.#start(socket, [answer]);
    else busy.unanswered.push(answer);
  }

  #start(socket: Socket, unanswered: (() => void)[]): void {
    this.#waiting.delete(socket);
    this.#busy.delete(socket);
    this.#busy.set(socket, { sinceMs: this.#nowMs, unanswered });
    unanswered[0]?.();
  }

  #answered(socket: Socket): void {
    const busy = this.#busy.get(socket);
    if (busy === undefined || socket.destroyed) return;
    busy.unanswered.shift();
    if (busy.unanswered.length > 0) {
      this.#start(socket, busy.unanswered);
      return;
    }
    this.#busy.delete(socket);
    this.#waiting.set(socket, this.#nowMs);
  }

  /** Closes the connection that waits longest; instead of one that may be about to send, an answer that takes long. */
  #makeRoom(): void {
    const { sendingMs, answeringMs } = this.#options.limits;
    const [waiting] = this.#waiting;
    const [busy] = this.#busy;
    const isLate = busy !== undefined && this.#nowMs - busy[1].sinceMs >= answeringMs;
    const isSending = waiting !== undefined && this.#nowMs - waiting[1] < sendingMs;
    const closed = waiting === undefined || (isSending && isLate) ? busy : waiting;
    if (closed !== undefined) this.#close(closed[0], 'limit');
  }

  #close(socket: Socket, reason: keyof typeof reasons): void {
    const { log, metrics, limits } = this.#options;
    metrics.httpClosedConnections.inc({ reason });
    const last = this.#reported.get(reason);
    const closed = (last?.closed ?? 0) + 1;
    if (last !== undefined && this.#nowMs - last.atMs < minuteMs) last.closed = closed;
    else {
      const { connections, unanswered } = limits;
      const most = reason === 'limit' ? { connections } : { unanswered };
      log.warn({ closed, ...most, address: socket.remoteAddress }, reasons[reason]);
      this.#reported.set(reason, { atMs: this.#nowMs, closed: 0 });
    }
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#busy.delete(socket);
  }

  get #nowMs(): number {
    return this.#options.clock.elapsedMs();
  }
}
