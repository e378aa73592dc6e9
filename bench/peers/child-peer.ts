import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { LocalStack } from '../../src/local/stack/local-stack.ts';
import type { PeerTask, RunningPeer } from './peer.ts';

/**
 * A peer in a process of its own. It gets `BROKER CLICKHOUSE_URL` as its arguments and a line
 * `TOPIC GROUP DATABASE EVENTS` a task on its standard input; it answers `stored` a task, and what
 * else it has to say of it.
 */
export function startChildPeer(
  command: readonly [string, ...string[]],
  stack: LocalStack,
): RunningPeer {
  const [program, ...options] = command;
  const broker = stack.kafka.brokers[0] as string;
  const child = spawn(program, [...options, broker, stack.clickhouse.url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid,
    async ingest({ topic, group, database, events }: PeerTask) {
      child.stdin.write(`${topic} ${group} ${database} ${events}\n`);
      const line = await lines.next();
      if (line.done || !line.value.startsWith('stored')) {
        throw new Error(`${command.join(' ')} said ${line.value ?? 'nothing'}`);
      }
      return line.value.slice('stored '.length) || undefined;
    },
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
