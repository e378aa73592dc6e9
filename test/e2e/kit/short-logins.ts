import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { useStack } from '../../containers/stack.ts';
import { KafkaCluster } from './kafka-cluster.ts';
import { poll } from './poll.ts';
import type { Rig } from './rig.ts';
import { unsecuredToken } from './unsecured-token.ts';
import { withRig } from './with-rig.ts';

/** How long brokers know a login, by its mechanism. */
export const sessionMs = { plain: 3_000, oauthbearer: 8_000 };
/** A token for as long as a process takes to start. */
export const START_SECONDS = 600;

export const plain = {
  TAILMARK_KAFKA_SASL_MECHANISM: 'plain',
  TAILMARK_KAFKA_SASL_USERNAME: 'app',
  TAILMARK_KAFKA_SASL_PASSWORD: 'app-password',
};

/** A token file. */
export interface TokenFile {
  readonly path: string;
  /** Settings of a process that logs in by it. */
  readonly env: Readonly<Record<string, string>>;
  /** Replaces it as Kubernetes does, by a token of so many seconds. */
  renew(seconds: number): void;
}

/** Brokers of a file's tests that know a login for seconds. Call it at the top of the file. */
export function useShortLogins() {
  const stack = useStack();
  let dir: string;
  let cluster: KafkaCluster;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tailmark-logins-'));
    const reauth = (mechanism: keyof typeof sessionMs) => ({
      [`listener.name.sasl_plaintext.${mechanism}.connections.max.reauth.ms`]: sessionMs[mechanism],
    });
    const settings = { ...reauth('plain'), ...reauth('oauthbearer') };
    cluster = await KafkaCluster.start({ brokers: 1, settings });
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    /** A rig whose processes log in, and whose test does not. */
    withLogin: (
      name: string,
      login: Readonly<Record<string, string>>,
      use: (rig: Rig, env: Record<string, string>) => Promise<void>,
    ): Promise<void> =>
      withRig({ stack: { ...stack, brokers: cluster.brokers }, name }, (rig) =>
        use(rig, { TAILMARK_KAFKA_BROKERS: cluster.saslBrokers.join(','), ...login }),
      ),
    tokenFile: (name: string): TokenFile => {
      const path = join(dir, name);
      return {
        path,
        renew: (seconds) => {
          writeFileSync(`${path}.new`, unsecuredToken('app', seconds), { mode: 0o600 });
          renameSync(`${path}.new`, path);
        },
        env: {
          TAILMARK_KAFKA_SASL_MECHANISM: 'oauthbearer',
          TAILMARK_KAFKA_SASL_TOKEN_FILE: path,
        },
      };
    },
  };
}

export function untilPassed(ms: number): Promise<true> {
  const endMs = performance.now() + ms;
  const isOver = () => (performance.now() > endMs ? true : undefined);
  return poll('time has passed', isOver, { deadlineMs: ms + 10_000 });
}
