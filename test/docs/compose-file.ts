import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly restart: string;
  readonly stop_grace_period?: string;
  readonly pull_policy?: string;
  readonly profiles?: readonly string[];
  readonly ulimits?: Readonly<Record<string, { readonly soft: number; readonly hard: number }>>;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** docker-compose.yml as it is without any variable set: `${NAME:-default}` is its default. */
export function composeFile(): ComposeFile {
  const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  return parse(text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'), { merge: true }) as ComposeFile;
}
