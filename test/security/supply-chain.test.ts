import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = JSON.parse(read('package-lock.json')) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked>>;
};
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');
const shipped = locked.filter(([, { dev }]) => dev !== true);

/** Packages in production, binaries for other platforms apart. Raising it is a decision. */
const mostShipped = 38;
/** The binaries, of which npm installs one or two. */
const mostBinaries = 34;

describe('what is installed', () => {
  it('runs no script of ours or of another package', () => {
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(Object.keys(manifest.scripts).filter((name) => hooks.includes(name))).toEqual([]);
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
    expect(shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  });

  it('is what the lockfile says, which is in step with package.json', () => {
    const root = lock.packages[''];
    expect(lock.lockfileVersion).toBe(3);
    expect(root?.dependencies).toEqual(manifest.dependencies);
    expect(root?.devDependencies).toEqual(manifest.devDependencies);
    expect(root?.version).toBe(manifest.version);
  });

  it('has one version and a checksum for every package that ships', () => {
    for (const name of Object.keys(manifest.dependencies)) {
      expect(lock.packages[`node_modules/${name}`]?.version).toMatch(/^\d+\.\d+\.\d+$/);
    }
    const bare = shipped.filter(([, { integrity = '' }]) => !/^sha512-\S{80,}$/.test(integrity));
    expect(bare.map(([path]) => path)).toEqual([]);
  });

  it('has a checksum for every package but binaries that development alone may fetch', () => {
    const bare = locked.filter(([, { integrity }]) => integrity === undefined);
    expect(bare.filter(([, { dev, optional }]) => !(dev && optional))).toEqual([]);
  });

  it('comes from no other place than the registry', () => {
    const elsewhere = locked.filter(([, { resolved }]) => /^(git|file|http:)/.test(resolved ?? ''));
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });

  it('is little', () => {
    const binaries = shipped.filter(([, { optional }]) => optional === true);
    expect(shipped.length - binaries.length).toBeLessThanOrEqual(mostShipped);
    expect(binaries.length).toBeLessThanOrEqual(mostBinaries);
  });

  it('is audited by CI, which fails on high and critical', () => {
    expect(existsSync(new URL('../../.ci/run', import.meta.url))).toBe(true);
    const script = read('.ci/run');
    expect(script).toMatch(/^\s*npm audit --omit=dev --audit-level=high/m);
    expect(script).toContain('counts.high + counts.critical');
  });
});
