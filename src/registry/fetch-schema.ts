import { z } from 'zod';
import { recordLimits } from '../formats/records/record-limits.ts';
import type {
  MissingSchema,
  ReferencedSchema,
  RegisteredSchema,
  SchemaId,
} from '../formats/records/schema-source.ts';
import type { RegistryHttp } from './registry-http.ts';

/** The reason why a schema cannot be had now: it is to be tried again. */
export interface FetchFailure {
  /** The registry's failure, as the end of a sentence. */
  readonly failure: string;
  readonly retryAfterMs?: number | undefined;
}

/** The reason why there is no schema. */
export interface NotFound extends MissingSchema {
  /** The registry does not know it, and may come to know it. */
  readonly mayCome: boolean;
}

const reference = z.object({
  name: z.string(),
  subject: z.string(),
  version: z.union([z.int(), z.string()]),
});

const response = z.object({
  schema: z.string(),
  // Left out for Avro.
  schemaType: z.enum(['AVRO', 'PROTOBUF', 'JSON']).nullish(),
  references: z.array(reference).nullish(),
});

type Response = z.output<typeof response>;
type Reference = z.output<typeof reference>;

/** A registry's own errors: no subject, no version, no schema of that name or id. */
const missingCodes: ReadonlySet<unknown> = new Set([40401, 40402, 40403]);

/**
 * Fetches a schema and all that it refers to. A schema is missing only if the registry says so in its own
 * form: a plain 404 comes from a proxy, or from a wrong path in the address.
 */
export async function fetchSchema(
  http: RegistryHttp,
  id: SchemaId,
): Promise<RegisteredSchema | NotFound | FetchFailure> {
  const path = typeof id === 'number' ? `schemas/ids/${id}` : `schemas/guids/${id}`;
  const main = await request(http, path, 'the registry has none with that id');
  if (!('schema' in main)) return main;
  const references: ReferencedSchema[] = [];
  const problem = await follow(http, main, new Set(), references, 0);
  if (problem !== undefined) return problem;
  return { type: main.schemaType ?? 'AVRO', text: main.schema, references };
}

/** Appends the references of a schema, those that others refer to first. Returns what keeps it from that. */
async function follow(
  http: RegistryHttp,
  { references }: Response,
  seen: Set<string>,
  found: ReferencedSchema[],
  depth: number,
): Promise<NotFound | FetchFailure | undefined> {
  for (const each of references ?? []) {
    if (seen.has(each.name)) continue;
    seen.add(each.name);
    if (seen.size > recordLimits.references || depth > recordLimits.references) {
      return {
        missing: `it must refer to at most ${recordLimits.references} schemas: it has more`,
        mayCome: false,
      };
    }
    const referenced = await request(
      http,
      pathOf(each),
      `it refers to ${nameOf(each)}, which is gone`,
    );
    if (!('schema' in referenced)) return referenced;
    const problem = await follow(http, referenced, seen, found, depth + 1);
    if (problem !== undefined) return problem;
    found.push({ name: each.name, text: referenced.schema });
  }
  return undefined;
}

/** A version that was deleted is still given where it is asked for, as old messages need it. */
function pathOf({ subject, version }: Reference): string {
  const parts = [subject, String(version)].map(encodeURIComponent);
  return `subjects/${parts[0]}/versions/${parts[1]}?deleted=true`;
}

function nameOf({ subject, version }: Reference): string {
  return `${JSON.stringify(subject.slice(0, 80))} version ${String(version).slice(0, 20)}`;
}

async function request(
  http: RegistryHttp,
  path: string,
  missing: string,
): Promise<Response | NotFound | FetchFailure> {
  const got = await http.get(path);
  if ('error' in got) return { failure: got.error };
  const { status, text, retryAfterMs } = got;
  const body = jsonOf(text);
  if (status === 404 && missingCodes.has(Object(body).error_code))
    return { missing, mayCome: true };
  if (status !== 200) return { failure: failureOf(status), retryAfterMs };
  const parsed = response.safeParse(body);
  if (parsed.success) return parsed.data;
  return {
    failure: 'status 200 without a schema: is schema_registry.url the address of a registry?',
  };
}

function failureOf(status: number): string {
  if (status === 401 || status === 403) {
    return `status ${status}: see schema_registry.username, password_file and token_file`;
  }
  if (status === 404) return 'status 404, but not as a registry says it: see schema_registry.url';
  return `status ${status}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
