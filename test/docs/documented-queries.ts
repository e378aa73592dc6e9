import { statementsOf } from '../../src/sink/migrate/migrate.ts';
import { codeBlocks } from './code-blocks.ts';
import { documents } from './documents.ts';

export interface DocumentedQuery {
  /** `README.md:87`. */
  readonly place: string;
  readonly sql: string;
  /** Whether it only reads. */
  readonly reads: boolean;
  /** Query parameters it takes: `{name:Type}`. */
  readonly parameters: readonly string[];
  /** Days that it names: `'2026-11-17'`. */
  readonly days: readonly string[];
}

/** Every statement of the SQL blocks of the documentation. */
export function documentedQueries(): DocumentedQuery[] {
  return documents()
    .flatMap(codeBlocks)
    .filter(({ language }) => language === 'sql')
    .flatMap(({ text, path, line }) =>
      statementsOf(text).map((sql) => {
        const code = sql.replaceAll(/--[^\n]*/g, '').trim();
        return {
          place: `${path}:${line}`,
          sql,
          reads: /^(SELECT|WITH|SHOW|DESCRIBE|EXPLAIN)\b/i.test(code),
          parameters: [...code.matchAll(/\{(\w+):[\w()]+\}/g)].map((match) => match[1] ?? ''),
          days: [...code.matchAll(/'(\d{4}-\d\d-\d\d)[^']*'/g)].map((match) => match[1] ?? ''),
        };
      }),
    );
}
