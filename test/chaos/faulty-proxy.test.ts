import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { poll } from '../e2e/kit/poll.ts';
import { FaultyProxy } from './faulty-proxy.ts';

/** Accepts lines and responds to each with "done: LINE". */
class LineServer {
  readonly lines: string[] = [];
  /** All received text, whole lines or not. */
  received = '';
  readonly #server: Server = createServer((socket) => this.#serve(socket));
  readonly #sockets = new Set<Socket>();

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      this.received += bytes;
      text += bytes;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        this.lines.push(line);
        socket.write(`done: ${line}\n`);
      }
    });
  }
}

/** A connection that records the responses. */
class Caller {
  answer = '';
  isClosed = false;
  readonly #socket: Socket;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (bytes) => {
      this.answer += bytes;
    });
    this.#socket.on('close', () => {
      this.isClosed = true;
    });
  }

  send(text: string): void {
    this.#socket.write(text);
  }

  end(): void {
    this.#socket.destroy();
  }

  async says(text: string): Promise<void> {
    await poll(`answer ${text}`, () => (this.answer === text ? true : undefined), {
      seen: () => this.answer,
    });
  }

  async closed(): Promise<void> {
    await poll('closed', () => (this.isClosed ? true : undefined));
  }
}

let server: LineServer;
let proxy: FaultyProxy;
let callers: Caller[];
const call = () => {
  const caller = new Caller(proxy.port);
  callers.push(caller);
  return caller;
};
const received = (text: string) =>
  poll(`received ${text}`, () => (server.received === text ? true : undefined), {
    seen: () => server.received,
  });

beforeEach(async () => {
  callers = [];
  server = new LineServer();
  proxy = await FaultyProxy.start(await server.listen());
});
afterEach(async () => {
  for (const caller of callers) caller.end();
  await proxy.close();
  await server.close();
});

describe('FaultyProxy', () => {
  it('passes requests and responses on, many over one connection', async () => {
    const caller = call();
    caller.send('a\n');
    await caller.says('done: a\n');
    caller.send('b\n');
    await caller.says('done: a\ndone: b\n');
    expect(proxy.hits).toBe(0);
  });

  it('passes on a large request whole, to the byte', async () => {
    const line = 'x'.repeat(3_000_000);
    const caller = call();
    caller.send(`${line}\n`);
    await caller.says(`done: ${line}\n`);
    expect(server.lines).toEqual([line]);
  });

  it('refuses: ends open and new connections, until healed', async () => {
    const before = call();
    before.send('a\n');
    await before.says('done: a\n');
    proxy.inject({ kind: 'refuse' });
    await before.closed();
    const during = call();
    during.send('b\n');
    await during.closed();
    expect([during.answer, server.lines, proxy.hits]).toEqual(['', ['a'], 2]);
    proxy.heal();
    const after = call();
    after.send('c\n');
    await after.says('done: c\n');
  });

  it('cuts a request after so many bytes, which arrive', async () => {
    proxy.inject({ kind: 'cut', containing: 'insert', times: 1, afterBytes: 9 });
    const caller = call();
    caller.send('insert 0123456789\n');
    await caller.closed();
    await received('insert 01');
    expect([caller.answer, server.lines, proxy.hits]).toEqual(['', [], 1]);
  });

  it('counts the bytes of a request over all its pieces', async () => {
    proxy.inject({ kind: 'cut', containing: 'insert', times: 1, afterBytes: 9 });
    const caller = call();
    caller.send('insert ');
    await received('insert ');
    caller.send('0123456789\n');
    await caller.closed();
    await received('insert 01');
  });

  it('hits only requests that contain the text, and no more of them than configured', async () => {
    proxy.inject({ kind: 'cut', containing: 'insert', times: 2, afterBytes: 0 });
    const [query, one, two, three] = [call(), call(), call(), call()];
    query.send('select\n');
    await query.says('done: select\n');
    one.send('insert 1\n');
    await one.closed();
    two.send('insert 2\n');
    await two.closed();
    three.send('insert 3\n');
    await three.says('done: insert 3\n');
    expect([server.lines, proxy.hits]).toEqual([['select', 'insert 3'], 2]);
  });

  it('swallows the response to a completed request, and closes', async () => {
    proxy.inject({ kind: 'swallow', containing: 'insert', times: 1 });
    const caller = call();
    caller.send('insert 1\n');
    await caller.closed();
    expect([caller.answer, server.lines, proxy.hits]).toEqual(['', ['insert 1'], 1]);
    const again = call();
    again.send('insert 1\n');
    await again.says('done: insert 1\n');
  });

  it('sees a request that follows others on its connection', async () => {
    proxy.inject({ kind: 'swallow', containing: 'insert', times: 1 });
    const caller = call();
    caller.send('select\n');
    await caller.says('done: select\n');
    caller.send('insert 1\n');
    await caller.closed();
    expect([caller.answer, server.lines]).toEqual(['done: select\n', ['select', 'insert 1']]);
  });

  it('stalls a request in its middle, and resumes it when healed', async () => {
    proxy.inject({ kind: 'stall', containing: 'insert', times: 1, afterBytes: 9 });
    const caller = call();
    caller.send('insert 0123456789\n');
    await received('insert 01');
    const other = call();
    other.send('insert 2\n');
    await other.says('done: insert 2\n');
    expect([caller.answer, server.lines]).toEqual(['', ['insert 2']]);
    proxy.heal();
    await poll('answer', () => (caller.answer === '' ? undefined : true));
    expect(server.lines.at(-1)).toMatch(/3456789$/);
    expect([caller.isClosed, proxy.hits]).toEqual([false, 1]);
  });

  it('delivers a stalled request late even when its sender has gone', async () => {
    proxy.inject({ kind: 'stall', containing: 'insert', times: 1, afterBytes: 3 });
    const caller = call();
    caller.send('insert 1\n');
    await received('ins');
    caller.end();
    proxy.heal();
    await received('insert 1\n');
    expect(server.lines).toEqual(['insert 1']);
  });

  it('delays each way, and keeps the order', async () => {
    proxy.inject({ kind: 'delay', containing: '', times: 1, delayMs: 50 });
    const caller = call();
    const startedMs = performance.now();
    caller.send('a\n');
    await caller.says('done: a\n');
    // Timers may fire a millisecond early.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(98);
    caller.send('b\nc\n');
    await caller.says('done: a\ndone: b\ndone: c\n');
    expect(proxy.hits).toBe(1);
  });

  it('closes a connection whose server is gone', async () => {
    await server.close();
    const caller = call();
    caller.send('a\n');
    await caller.closed();
    expect(caller.answer).toBe('');
    server = new LineServer();
    await server.listen();
  });

  it('closes while a request is stalled', async () => {
    proxy.inject({ kind: 'stall', containing: '', times: 1, afterBytes: 0 });
    const caller = call();
    caller.send('a\n');
    await poll('stalled', () => (proxy.hits === 1 ? true : undefined));
    await proxy.close();
    await caller.closed();
    proxy = await FaultyProxy.start(1);
  });
});
