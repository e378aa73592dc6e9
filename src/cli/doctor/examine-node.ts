import type { ReportLine } from '../text/report-line.ts';

const least = { major: 20, minor: 19 };

/** Ends of life of the lines with long-term support, from the Node.js release schedule. */
const endsOfLife: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

const recommended = 'Node 24 is supported until 2028-04-30.';

/** Examines whether this Node runs tailmark and still gets security fixes. */
export function examineNode(version: string, nowMs: number): ReportLine {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const what = 'Node';
  if (major < least.major || (major === least.major && minor < least.minor)) {
    const detail = `${version} is too old; tailmark needs ${least.major}.${least.minor} or later`;
    return { level: 'fail', what, detail, hint: recommended };
  }
  const end = endsOfLife[major];
  if (end === undefined) {
    const detail = `${version} is not tested with tailmark`;
    return { level: 'warn', what, detail, hint: recommended };
  }
  if (nowMs > Date.parse(`${end}T23:59:59Z`)) {
    const detail = `${version} gets no security fixes since ${end}`;
    return { level: 'warn', what, detail, hint: recommended };
  }
  return { level: 'ok', what, detail: `${version}, supported until ${end}` };
}
