import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createLog } from '../../../src/base/telemetry/log.ts';
import { http } from '../../../src/config/http.ts';
import { Access } from '../../../src/roles/serve/access/access.ts';

import type { ApiSources } from '../../../src/roles/serve/api/sources.ts';
import { apiApp, onLoopback } from './api-app.ts';

const read = (name: string) =>
  parse(readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8'));

/** Answers nothing: a request that is understood gets 503. */
const away = () => {
  throw new Error('away');
};
let askedStages: readonly string[] | undefined;
const sources: ApiSources = {
  log: createLog({ level: 'silent' }),
  nowMs: () => 0,
  verdict: ({ stages }) => {
    askedStages = stages;
    return away();
  },
  autoscaling: away,
  objectiveMs: away,
  mutes: away,
  putMute: away,
  endMute: away,
};
const api = apiApp(sources);
const status = async (url: string, init: RequestInit = {}) => {
  const { pathname, search } = new URL(url);
  return (await api.request(pathname + search, init, onLoopback)).status;
};

/** Asks from another machine, by the name that the files have. */
const fromElsewhere = {
  socket: { localAddress: '10.0.0.5', remoteAddress: '10.0.0.9' },
  headers: { host: 'tailmark.tailmark:9464' },
} as unknown as IncomingMessage;

describe('the files for other tools', () => {
  it.each([
    ['verdict', 'argo-analysis-template.yaml'],
    ['gate', 'flagger-webhooks.yaml'],
    ['autoscale', 'keda-scaledobject.yaml'],
  ])('need %s in http.auth.open, and say so: %s', (name, file) => {
    const text = readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8');
    expect(text).toContain(`http.auth.open: [${name}]`);
    const paths = [...text.matchAll(/http:\/\/tailmark\.tailmark:9464(\/[\w/]+)/g)].map(
      ([, path]) => path,
    );
    expect(paths.length).toBeGreaterThan(0);
    const accessOf = (settings: object) =>
      new Access({ http: http.parse(settings), log: sources.log, elapsedMs: () => 0 });
    for (const path of paths) {
      const opened = accessOf({ auth: { open: [name] } });
      expect(opened.refusalOfData(fromElsewhere, path ?? '')).toBeUndefined();
      expect(accessOf({}).refusalOfData(fromElsewhere, path ?? '')?.status).toBe(403);
    }
  });

  it('of Argo ask what the API takes, and promote nothing that stayed inconclusive', async () => {
    const [metric] = read('argo-analysis-template.yaml').spec.metrics;
    const names: Record<string, string> = { model: 'ranker', version: 'v2', baseline: 'v1' };
    const { args } = read('argo-analysis-template.yaml').spec;
    const defaults = Object.fromEntries(
      args.map(({ name, value }: { name: string; value?: string }) => [name, value]),
    );
    const urlOf = (given: Record<string, string>) =>
      metric.provider.web.url.replace(
        /\{\{args\.(\w+)\}\}/g,
        (_: string, name: string) => given[name] ?? defaults[name],
      );
    expect(await status(urlOf(names))).toBe(503);
    expect(askedStages).toBeUndefined();
    expect(await status(urlOf({ ...names, stages: 'total,first_token' }))).toBe(503);
    expect(askedStages).toEqual(['total', 'first_token']);
    // A metric is inconclusive beyond the limit; at `count` all others count as successful.
    expect(metric.inconclusiveLimit).toBe(metric.count - 1);
  });

  it('of Flagger ask what the API takes', async () => {
    for (const { url, metadata } of read('flagger-webhooks.yaml').spec.analysis.webhooks) {
      const ask = (more: object) => {
        const release = { ...metadata, ...more };
        const body = { name: 'ranker', namespace: 'ml', phase: 'Waiting', metadata: release };
        return status(url, { method: 'POST', body: JSON.stringify(body) });
      };
      expect([await ask({}), askedStages]).toEqual([503, undefined]);
      expect(await ask({ stages: 'total,first_token' })).toBe(503);
      expect(askedStages).toEqual(['total', 'first_token']);
    }
  });

  it('of KEDA ask what the API takes, and take no replica away while the load is not known', async () => {
    const { spec } = read('keda-scaledobject.yaml');
    expect(await status(spec.triggers[0].metadata.url)).toBe(503);
    expect(spec.fallback.behavior).toBe('currentReplicasIfHigher');
    expect(spec.minReplicaCount).toBeGreaterThan(0);
  });
});
