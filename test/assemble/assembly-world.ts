import type { TraceReader } from '../../src/assemble/event/span-formats.ts';
import { childrenRules } from '../../src/assemble/event/trace-rules.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createMetrics } from '../../src/base/telemetry/metrics.ts';
import { loadConfig } from '../../src/config/load/load-config.ts';
import type { Random } from '../../src/generate/random.ts';
import { Assembler, type AssemblyOutput } from '../../src/roles/assemble/assembler.ts';
import { EventCheck } from '../../src/roles/assemble/event-check.ts';
import {
  PartitionAssembly,
  type Publication,
} from '../../src/roles/assemble/partition-assembly.ts';
import { RecordList, type SourceRecord } from '../../src/source/record.ts';
import { type Claim, type CommittedOffset, emptyPartition } from '../../src/source/source.ts';
import { below } from './restart-world.ts';

const { config } = loadConfig({ env: {}, readFile: () => '' });
const check = new EventCheck(config);
const metrics = createMetrics();
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const settings = {
  ...{ waitMs: 3_000, maxTraceMs: 60_000, lateMemoryMs: 6_000 },
  ...{ maxOpenTraces: 10_000, maxSpansPerTrace: 100, maxBytes: 1e9 },
};

/** A message is a JSON list of spans: trace, span, and whether it is the root. */
const read: TraceReader = (message, sink) => {
  for (const [traceId, spanId, isRoot] of JSON.parse(String(message))) {
    const fields = isRoot ? { ts: 1_795_608_000_000, model: 'm', trace_id: traceId } : undefined;
    sink.span(traceId, {
      ...{
        idHigh: 0,
        idLow: isRoot ? 99 : 1 + Number(spanId.slice(1)),
        name: spanId,
        service: 's',
      },
      ...{ parentHigh: 0, parentLow: isRoot ? 0 : 99 },
      ...{ isShared: false, endIsSet: true, durationMs: 1, fields, full: undefined },
      bytes: 100,
    });
  }
  return undefined;
};

/** One partition: its log, its commit, and who may publish for it. */
class Broker {
  readonly records: SourceRecord[] = [];
  readonly events: string[] = [];
  readonly letters: string[] = [];
  committed: CommittedOffset = { offset: undefined, metadata: '' };
  #epoch = 0;
  readonly #random: Random;
  commits = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  openOutput(isAlive: () => boolean, pause: () => Promise<void>): AssemblyOutput {
    const epoch = ++this.#epoch;
    const fault = (share: number) => {
      if (this.#random.chance(share)) throw new Error('no response');
    };
    return {
      publish: async (publication: Publication) => {
        await pause();
        fault(0.03);
        // A process that died sends nothing more.
        if (!isAlive()) await new Promise(() => undefined);
        if (epoch !== this.#epoch) throw new Error('fenced');
        this.#commit(publication);
        await pause();
        // Committed, and the response is lost.
        fault(0.03);
      },
      close: async () => undefined,
    };
  }

  #commit({ events, letters, offset, metadata }: Publication): void {
    this.events.push(...events.flatMap((message) => message.toString().split('\n')));
    this.letters.push(...letters.map((letter) => `${letter.offset}/${letter.index}`));
    this.committed = { offset, metadata };
    this.commits++;
  }
}

class FakeClaim implements Claim {
  readonly topic = 'spans';
  readonly partition = 0;
  isLost = false;
  isReady = false;
  wantsAgain = false;
  cursor = -1;
  busy: Promise<void> | undefined;

  async commit(): Promise<void> {}
  pause(): void {
    this.isReady = false;
  }
  readAgain(): void {
    this.wantsAgain = true;
  }
}

/** A process: the role as it is, with a claim or without. */
class Member {
  readonly assembler: Assembler;
  claim: FakeClaim | undefined;
  isAlive = true;
  tick: () => void = () => undefined;

  constructor(broker: Broker, nowMs: () => number, pause: () => Promise<void>) {
    const clock: Clock = {
      nowMs,
      elapsedMs: nowMs,
      sleep: () => new Promise(() => undefined),
      yieldToEventLoop: pause,
      every: (_ms, action) => {
        this.tick = action;
        return () => undefined;
      },
    };
    this.assembler = new Assembler({
      ...{ settings, startFrom: 'earliest', commitIntervalMs: 200, clock, metrics },
      log: quiet as never,
      openOutput: async () => {
        await pause();
        return broker.openOutput(() => this.isAlive, pause);
      },
      committed: async () => {
        await pause();
        return broker.committed;
      },
      endOffset: async () => broker.records.length,
      assembly: (_claim, logId, restart) =>
        new PartitionAssembly({
          ...{ topic: 'spans', partition: 0, logId, output: 'timing', restart, settings },
          rules: childrenRules,
          ...{ read, format: 'otlp_json', check, maxMessageBytes: 1e6 },
        }),
    });
    this.assembler.start();
  }
}

/**
 * Runs processes that assemble one partition while they lose it, die, are suspended, and while transactions
 * fail. Returns what differs from one event a trace; undefined where nothing does.
 */
export async function assemblyProblem(random: Random): Promise<string | undefined> {
  const broker = new Broker(random);
  let nowMs = 1_000;
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const pause = async () => {
    for (let n = below(random, 3); n > 0; n--) await Promise.resolve();
    for (let n = random.chance(0.3) ? below(random, 6) : 0; n > 0; n--) await turn();
  };
  const expected = new Map<string, number>();
  const members: Member[] = [];

  const feed = () => {
    const spans: [string, string, boolean][] = [];
    for (let n = 1 + below(random, 4); n > 0; n--) {
      const id = expected.size.toString(16).padStart(32, '0');
      const children = below(random, 4);
      expected.set(id, children);
      spans.push([id, 'root', true]);
      for (let c = 0; c < children; c++) spans.push([id, `s${c}`, false]);
    }
    spans.sort(() => random.uniform() - 0.5);
    if (random.chance(0.3)) spans.push(...spans.slice(0, 3));
    while (spans.length > 0) {
      const value = Buffer.from(JSON.stringify(spans.splice(0, 1 + below(random, 3))));
      broker.records.push({ offset: broker.records.length, timestampMs: 1e12 + nowMs, value });
    }
  };
  const claimOf = async (member: Member) => {
    const claim = new FakeClaim();
    member.claim = claim;
    const endOffset = broker.records.length;
    const found = { ...emptyPartition, logId: 'c/t', endOffset };
    const position = await member.assembler.onClaimed(claim, found).catch(() => undefined);
    if (position === undefined || claim.isLost) return;
    claim.cursor = position.offset;
    claim.isReady = true;
  };
  const lose = (member: Member) => {
    const { claim } = member;
    if (claim === undefined || claim.isLost) return;
    claim.isLost = true;
    member.assembler.onLost(claim);
    member.claim = undefined;
  };
  const deliver = (member: Member, most: number) => {
    const { claim } = member;
    if (claim === undefined || !claim.isReady || claim.busy !== undefined) return;
    const records = broker.records.slice(claim.cursor, claim.cursor + most);
    if (records.length === 0) return;
    const nextOffset = claim.cursor + records.length;
    const batch = {
      ...{ topic: 'spans', partition: 0, fetchOffset: claim.cursor, nextOffset },
      ...{ records: new RecordList(records), highWatermark: broker.records.length },
    };
    claim.cursor = nextOffset;
    const keepAlive = async () => {
      if (claim.isLost) throw new Error('lost');
    };
    claim.busy = member.assembler
      .onBatch(claim, batch, keepAlive)
      .catch(() => {
        claim.isReady = false;
      })
      .finally(() => {
        claim.busy = undefined;
      });
  };
  const alive = () => members.filter(({ isAlive }) => isAlive);
  const any = () => alive()[below(random, alive().length)];

  for (let step = 40 + below(random, 160); step > 0; step--) {
    const member = any();
    const what = random.uniform();
    if (member === undefined || what < 0.04) {
      if (alive().length < 3) members.push(new Member(broker, () => nowMs, pause));
    } else if (what < 0.2) feed();
    else if (what < 0.55) deliver(member, 1 + below(random, 20));
    else if (what < 0.62) {
      // A rebalance: others may not know of it yet.
      if (random.chance(0.7)) for (const other of alive()) lose(other);
      else lose(member);
      void claimOf(any() ?? member);
    } else if (what < 0.66) {
      member.isAlive = false;
      member.tick = () => undefined;
    } else if (what < 0.8) member.tick();
    else if (member.claim?.wantsAgain === true) {
      lose(member);
      void claimOf(member);
    } else nowMs += below(random, random.chance(0.2) ? 4_000 : 400);
    if (random.chance(0.7)) await turn();
  }

  // The last process reads all, and time goes by.
  for (const member of members) member.isAlive = false;
  await turn();
  const last = new Member(broker, () => nowMs, pause);
  for (let n = 0; n < 400; n++) {
    const { claim } = last;
    if (claim === undefined || claim.wantsAgain) {
      lose(last);
      await claimOf(last);
    }
    deliver(last, 50);
    last.tick();
    nowMs += 500;
    await turn();
    await turn();
    if (broker.events.length >= expected.size && n > 120) break;
  }
  return problemOf(broker, expected);
}

function problemOf(
  { events, letters }: Broker,
  expected: ReadonlyMap<string, number>,
): string | undefined {
  const found = new Map<string, number>();
  for (const line of events) {
    const { trace_id: id, stages_ms: stages } = JSON.parse(line);
    if (found.has(id)) return `two events of ${id}`;
    found.set(id, Object.keys(stages).length);
  }
  for (const [id, stages] of expected) {
    if (found.get(id) !== stages) return `${id} must have ${stages} stages: ${found.get(id)}`;
  }
  if (new Set(letters).size !== letters.length) return `letters: ${letters.join(' ')}`;
  return found.size === expected.size ? undefined : `${found.size} of ${expected.size} events`;
}
