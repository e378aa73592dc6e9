import { parseArgs } from 'node:util';
import { OperatorError } from '../../src/base/operator-error.ts';
import { countOption } from '../../src/cli/flag-values.ts';
import { parseDuration } from '../../src/config/duration.ts';
import { type ClusterFault, clusterFaults } from './cluster/cluster-faults.ts';
import { type FaultKind, faultKinds } from './fault-kinds.ts';
import { type SilenceFault, silenceFaults } from './silence-faults.ts';

export type ChaosOptions =
  | {
      readonly kind: 'cycles';
      readonly seed: string;
      readonly cycles: number;
      readonly kinds: readonly FaultKind[];
      readonly events: number;
    }
  | {
      readonly kind: 'outage';
      readonly seed: string;
      readonly outageMs: number;
      readonly eventsPerSecond: number;
    }
  | {
      readonly kind: 'silence';
      readonly seed: string;
      readonly rounds: number;
      readonly faults: readonly SilenceFault[];
      readonly shorter: number;
      /** Worlds, each with its own broker, database and traffic, that share the rounds. */
      readonly atOnce: number;
    }
  | {
      readonly kind: 'cluster';
      readonly seed: string;
      readonly faults: readonly ClusterFault[];
      readonly eventsPerSecond: number;
    }
  | {
      readonly kind: 'pages';
      readonly seed: string;
      readonly anomalies: number;
      readonly forMs: number;
      readonly kills: number;
      readonly takeovers: number;
    };

/**
 * Parses the command line of `npm run chaos -- …`.
 *
 * @throws {OperatorError} for unknown options and values
 */
export function chaosOptions(argv: readonly string[]): ChaosOptions {
  const { pages, kills, takeovers, for: given, cluster, ...others } = parsed(argv);
  if (cluster === true) {
    const { seed, faults, rate, ...rest } = others;
    if (Object.values(rest).some((value) => value !== undefined)) {
      throw usage('--cluster must stand with --faults, --rate and --seed alone');
    }
    return {
      kind: 'cluster',
      seed,
      faults: faults === undefined ? clusterFaults : namesIn('--faults', faults, clusterFaults),
      eventsPerSecond: countOption('--rate', rate ?? '700', 1, 100_000),
    };
  }
  const { seed, cycles, kinds, events, outage, rate, silence, ...ofSilence } = others;
  if (pages !== undefined) {
    const forMs = parseDuration(given ?? '8m');
    if (forMs === undefined) throw usage(`--for must be a duration: it is ${given}`);
    return {
      ...{ kind: 'pages', seed, forMs },
      anomalies: countOption('--pages', pages, 1, 100_000),
      kills: countOption('--kills', kills ?? '20', 0, 1_000),
      takeovers: countOption('--takeovers', takeovers ?? '5', 0, 1_000),
    };
  }
  const { rounds, faults, shorter, atOnce } = ofSilence;
  if (silence === true) {
    if ((cycles ?? kinds ?? events ?? outage ?? rate) !== undefined) {
      throw usage(
        '--silence must stand with --rounds, --faults, --at-once, --shorter and --seed alone',
      );
    }
    return {
      kind: 'silence',
      seed,
      rounds: countOption('--rounds', rounds ?? '20', 1, 1_000),
      faults: faults === undefined ? silenceFaults : namesIn('--faults', faults, silenceFaults),
      shorter: countOption('--shorter', shorter ?? '1', 1, 20),
      atOnce: countOption('--at-once', atOnce ?? '1', 1, 10),
    };
  }
  if ((rounds ?? faults ?? shorter ?? atOnce) !== undefined) {
    throw usage('--rounds, --faults, --at-once and --shorter must stand with --silence');
  }
  if (outage !== undefined) {
    if (cycles !== undefined || kinds !== undefined || events !== undefined) {
      throw usage('--outage must stand without --cycles, --kinds and --events');
    }
    const outageMs = parseDuration(outage);
    if (outageMs === undefined || outageMs < 1_000 || outageMs > 3_600_000) {
      throw usage(`--outage must be a duration from 1s to 1h: it is ${outage}`);
    }
    return {
      kind: 'outage',
      seed,
      outageMs,
      eventsPerSecond: countOption('--rate', rate ?? '100000', 1_000, 1_000_000),
    };
  }
  if (rate !== undefined) throw usage('--rate must stand with --outage');
  return {
    kind: 'cycles',
    seed,
    cycles: countOption('--cycles', cycles ?? '100', 1, 10_000),
    kinds: kinds === undefined ? faultKinds : namesIn('--kinds', kinds, faultKinds),
    // Fewer would leave a cycle without enough work for its fault to hit.
    events: countOption('--events', events ?? '10000000', 10_000, 1_000_000_000),
  };
}

function parsed(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        cycles: { type: 'string' },
        kinds: { type: 'string' },
        events: { type: 'string' },
        outage: { type: 'string' },
        rate: { type: 'string' },
        silence: { type: 'boolean' },
        rounds: { type: 'string' },
        faults: { type: 'string' },
        shorter: { type: 'string' },
        'at-once': { type: 'string' },
        cluster: { type: 'boolean' },
        pages: { type: 'string' },
        for: { type: 'string' },
        kills: { type: 'string' },
        takeovers: { type: 'string' },
        seed: { type: 'string', default: '1' },
      },
    });
    const { 'at-once': atOnce, ...others } = values;
    return { ...others, atOnce };
  } catch (error) {
    throw usage(`its options must be known: ${error instanceof Error ? error.message : error}`);
  }
}

function namesIn<Name extends string>(flag: string, list: string, all: readonly Name[]): Name[] {
  return list.split(',').map((name) => {
    const found = all.find((known) => known === name.trim());
    if (found !== undefined) return found;
    throw usage(`${flag} must name ${all.join(', ')}: it is ${list}`);
  });
}

function usage(rule: string): OperatorError {
  return new OperatorError('TAILMARK_USAGE', `Cannot run as ${rule}`, {
    hint: 'docs/explained/chaos.md lists the options.',
  });
}
