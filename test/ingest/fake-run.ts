import { setImmediate as turn } from 'node:timers/promises';
import { isAttributeName } from '../../src/base/dimensions.ts';
import type { Config } from '../../src/config/schema.ts';
import { decodeMetadata } from '../../src/ingest/commit-metadata.ts';
import { decodeRows } from '../sink/decoded-row.ts';
import { checkLedger } from '../sink/ledger-check.ts';
import { type ReferenceRow, referenceChunk } from '../window/reference-chunk.ts';
import { FakeBroker } from './fake-broker.ts';
import { FakeChunkStore } from './fake-chunk-store.ts';
import { type FakeLog, logNowMs } from './fake-log.ts';
import { FakeProcess, type FakeServers } from './fake-process.ts';
import { FakePublisher } from './fake-publisher.ts';
import { FakeWorld, type Fate, MadeFailure, type Op } from './fake-world.ts';

/** Choices of a run: which open call is next, and its fate. */
export interface Choices {
  /** Index of the open call to decide. */
  next(open: readonly Op[]): number;
  fate(op: Op): Fate;
  batchSize(): number;
  /** Other events of the current process: its timer fires, or it is stopped. */
  meanwhile(): 'nothing' | 'timer' | 'stop';
}

/** More turns than any terminating run needs. */
const STEPS_AT_MOST = 5_000;

/**
 * Reads a partition to its end by one process after another, with the chosen fates; the choices must let
 * calls succeed in the end.
 *
 * @returns differences of the stored data from the truth; empty when all is stored once
 */
export async function fakeRun(log: FakeLog, config: Config, choices: Choices): Promise<string[]> {
  const world = new FakeWorld(logNowMs);
  const broker = new FakeBroker(log.records, log.endOffset);
  const servers = {
    world,
    broker,
    store: new FakeChunkStore(world),
    publisher: new FakePublisher(world),
  };
  const processes: FakeProcess[] = [];
  const start = () => {
    const options = { config, batchSize: () => choices.batchSize() };
    processes.push(new FakeProcess(processes.length, servers, options));
  };
  start();
  for (let step = 0; ; step++) {
    await turn();
    const current = processes.at(-1) as FakeProcess;
    if (step > STEPS_AT_MOST) return [`no end; open: ${world.open.map((op) => op.name).join()}`];
    if (current.end !== undefined && current.end !== 'done') {
      start();
      continue;
    }
    if (world.open.length === 0) {
      if (current.end === 'done') break;
      return ['the process in charge waits for nothing'];
    }
    const meanwhile = choices.meanwhile();
    if (meanwhile === 'timer') current.tick();
    if (meanwhile === 'stop') current.stop();
    decide(world.removeAt(choices.next(world.open)), choices, world, processes, start);
  }
  return [...processes.flatMap(({ problems }) => problems), ...problemsOf(log, config, servers)];
}

function decide(
  op: Op,
  choices: Choices,
  world: FakeWorld,
  processes: readonly FakeProcess[],
  start: () => void,
): void {
  const { kind, share } = choices.fate(op);
  const isCurrent = op.process === processes.length - 1;
  switch (kind) {
    case 'holds':
      op.respond();
      break;
    case 'fails':
      op.apply(share);
      op.refuse(new MadeFailure(`${op.name}: share ${share} took effect`));
      break;
    case 'dies':
      op.apply(share);
      processes[op.process]?.die();
      break;
    case 'moves':
      op.apply(share);
      if (isCurrent) start();
      op.respond();
      break;
    case 'waits':
      world.putBack(op);
      if (isCurrent) start();
      break;
  }
}

/** Compares the stored data with the truth. */
function problemsOf(log: FakeLog, config: Config, servers: FakeServers): string[] {
  const { broker, store } = servers;
  const problems = [...broker.problems, ...store.problems];
  const expect = (what: string, found: unknown, due: unknown) => {
    const [foundText, dueText] = [JSON.stringify(found), JSON.stringify(due)];
    if (foundText !== dueText) problems.push(`${what}: ${foundText} instead of ${dueText}`);
  };
  const [landing, ...filled] = store.tables;
  const found = sumOf([...(landing?.blocks.values() ?? [])]);
  const truth = truthOf(log, config);
  for (const key of new Set([...found.keys(), ...truth.sums.keys()])) {
    expect(key, found.get(key), truth.sums.get(key));
  }
  for (const { name, blocks } of filled) {
    expect(
      `blocks of ${name}`,
      [...blocks.keys()].sort(),
      [...(landing?.blocks.keys() ?? [])].sort(),
    );
    const differ = [...blocks].filter(([token, bytes]) => landing?.blocks.get(token) !== bytes);
    // A block that was sent again is another buffer of the same bytes, as the store requires.
    if (differ.some(([token, bytes]) => !landing?.blocks.get(token)?.equals(bytes))) {
      problems.push(`${name} holds other rows than ${landing?.name}`);
    }
  }
  const { partitions, problems: untiled } = checkLedger(store.ledger);
  expect('ledger problems', untiled, []);
  const sum = (key: 'consumed' | 'aggregated' | 'rejected' | 'late' | 'overflow' | 'unmapped') =>
    store.ledger.reduce((total, row) => total + row[key], 0);
  const { aggregated, late, future } = truth.counts;
  expect('consumed', sum('consumed'), log.events.length + log.garbageCount);
  expect('aggregated', sum('aggregated'), aggregated);
  expect('late', sum('late'), late);
  expect('rejected', sum('rejected'), log.garbageCount + future);
  expect('overflow', sum('overflow'), 0);
  expect('unmapped', sum('unmapped'), 0);
  const end = partitions[0]?.to_offset ?? 0;
  expect('from', partitions[0]?.from_offset, log.records[0]?.offset);
  if (end <= (log.records.at(-1)?.offset ?? 0)) problems.push(`the ledger ends at ${end}`);
  // A process that finds all of it on the ledger and no record to read has nothing to commit by.
  const pendingEnd = decodeMetadata(broker.committed.metadata)?.intent?.endOffset;
  expect('committed offset', pendingEnd ?? broker.committed.offset, end);
  const letters = new Set(
    servers.publisher.messages.map(({ message: { headers = {} } }) =>
      [headers['tailmark-offset'], headers['tailmark-index']].join('/'),
    ),
  );
  expect('dead letters', [...letters].sort(), [...log.lettersDue].sort());
  return problems;
}

const truths = new WeakMap<
  FakeLog,
  { sums: Sums; counts: Record<'aggregated' | 'late' | 'future', number> }
>();

/** Data to be stored of a log, computed once. */
function truthOf(log: FakeLog, config: Config) {
  let truth = truths.get(log);
  if (truth === undefined) {
    const { rows, counts } = referenceChunk(log.events, {
      dimensions: config.windows.dimensions.flatMap((name) =>
        isAttributeName(name) ? [] : [name],
      ),
      allowedLatenessMs: config.windows.allowed_lateness,
      maxFutureMs: config.windows.max_future,
      graceMs: config.windows.grace,
      nowMs: logNowMs,
      watermarkMs: Number.NEGATIVE_INFINITY,
    });
    truth = { sums: sumsOf(rows), counts };
    truths.set(log, truth);
  }
  return truth;
}

type Sums = ReadonlyMap<string, readonly number[]>;

/** Additive values per window, series and stage over blocks. */
function sumOf(blocks: readonly Buffer[]): Sums {
  const sums = new Map<string, number[]>();
  for (const row of blocks.flatMap(decodeRows)) {
    if (row.kind !== 1) continue;
    const cold = row.cold_start ? '1' : '';
    const series = [row.service, row.model, row.version, row.request_type, row.region];
    const names = [row.window_start * 1000, ...series, row.host, row.tenant, cold, row.stage];
    const key = names.join('|');
    const known = sums.get(key) ?? [0, 0, 0, Number.POSITIVE_INFINITY, 0, 0];
    const [requests = 0, sumUs = 0, errors = 0, minMs = 0, maxMs = 0, banded = 0] = known;
    sums.set(key, [
      requests + row.requests,
      sumUs + Math.round(row.sum_ms * 1000),
      errors + row.errors + row.timeouts + row.cancelled,
      Math.min(minMs, row.min_ms),
      Math.max(maxMs, row.max_ms),
      banded + bandedRequests(key, row.bands),
    ]);
  }
  return sums;
}

function sumsOf(rows: ReadonlyMap<string, ReferenceRow>): Sums {
  const entries = [...rows].map(([key, row]): [string, number[]] => [
    key,
    [
      row.requests,
      row.sumUs,
      row.errors + row.timeouts + row.cancelled,
      row.minMs,
      row.maxMs,
      bandedRequests(key, row.bands),
    ],
  ]);
  return new Map(entries);
}

/** Requests in the bands of a total. Other stages have milliseconds there, which each chunk rounds. */
function bandedRequests(key: string, bands: ReadonlyMap<number, number>): number {
  if (!key.endsWith('|total')) return 0;
  return [...bands.values()].reduce((sum, requests) => sum + requests, 0);
}
