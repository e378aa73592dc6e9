import { expect, it } from 'vitest';
import { operations } from '../../../../src/roles/serve/api/operations.ts';
import { endpoints } from '../../../../src/roles/serve/dashboard/endpoints.ts';
import { openApiDocument } from '../../../../src/roles/serve/dashboard/open-api.ts';

interface Answer {
  readonly headers?: object;
  readonly content?: object;
}
interface Described {
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, Answer>>;
}

const { paths } = openApiDocument(endpoints, operations) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};
const all = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ path, method, ...described })),
);

it('each request that takes a login may be refused after wrong ones, and says for how long', () => {
  const taking = all.filter(({ security, path }) => security.length > 0 || path === '/v1/login');
  expect(taking.length).toBeGreaterThan(endpoints.length);
  const without = taking.filter(({ responses }) => responses[429]?.headers === undefined);
  expect(without.map(({ path }) => path)).toEqual([]);
});

it('each error is a problem, also of what is refused before it is read', () => {
  const errors = all.flatMap(({ path, responses }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, { content = {} }]) => `${path} ${status} ${Object.keys(content)}`),
  );
  const others = errors.filter((text) => !text.endsWith(' application/problem+json'));
  expect(others).toEqual([
    ...['/v1/gate/promote 409 text/plain', '/v1/gate/rollback 409 text/plain'],
    '/readyz 503 text/plain',
  ]);
});
