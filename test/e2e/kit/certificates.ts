import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { dayMs } from '../../../src/base/time.ts';

/** A certificate, its key and its subject name. */
export interface Certificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A certificate authority. */
export interface Authority extends Certificate {
  /** Issues a certificate for 127.0.0.1 (or `names`), by default valid for a day around now. */
  issue(commonName: string, options?: IssueOptions): Certificate;
}

export interface IssueOptions {
  /** Host names instead of 127.0.0.1. */
  readonly names?: readonly string[];
  readonly notAfter?: Date;
}

/** A new authority: keys on P-256, certificates of X.509 v3 as RFC 5280 lays them out. */
export function makeAuthority(commonName: string): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = (
    subject: string,
    spki: Buffer,
    extensions: readonly Buffer[],
    notAfter = new Date(Date.now() + dayMs),
  ) => {
    const serial = createHash('sha256').update(subject).update(spki).digest().subarray(0, 8);
    serial[0] = (serial[0] ?? 0) & 0x7f;
    const body = sequence(
      der(0xa0, der(0x02, Buffer.from([2]))),
      der(0x02, Buffer.concat([Buffer.from([1]), serial])),
      ecdsaWithSha256,
      nameOf(commonName),
      sequence(time(new Date(Date.now() - 2 * dayMs)), time(notAfter)),
      nameOf(subject),
      spki,
      der(0xa3, sequence(...extensions)),
    );
    const signature = sign('sha256', body, keys.privateKey);
    const whole = sequence(body, ecdsaWithSha256, bits(signature));
    return pem('CERTIFICATE', whole);
  };
  return {
    certPem: certificate(commonName, spkiOf(keys.publicKey), [isAuthority]),
    keyPem: pkcs8(keys.privateKey),
    issue: (subject, { names, notAfter } = {}) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const extensions = [alternativeNames(names)];
      return {
        certPem: certificate(subject, spkiOf(own.publicKey), extensions, notAfter),
        keyPem: pkcs8(own.privateKey),
      };
    },
  };
}

const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n').trim();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

/** Tag, length, content. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...content: readonly Buffer[]) => der(0x30, ...content);
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const text = (value: string) => der(0x0c, Buffer.from(value));

/** 1.2.840.10045.4.3.2 */
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
/** Basic constraints (2.5.29.19), critical: cA is true. */
const isAuthority = sequence(
  oid('551d13'),
  der(0x01, Buffer.from([0xff])),
  der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
);

/** Common name (2.5.4.3). */
function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), text(commonName))));
}

/** UTCTime: two digits of the year. */
function time(date: Date): Buffer {
  return der(
    0x17,
    Buffer.from(
      `${date
        .toISOString()
        .replaceAll(/[-T:]|\..*/g, '')
        .slice(2)}Z`,
    ),
  );
}

/** Subject alternative names (2.5.29.17): names, else 127.0.0.1. */
function alternativeNames(names: readonly string[] | undefined): Buffer {
  const entries =
    names === undefined
      ? [der(0x87, Buffer.from([127, 0, 0, 1]))]
      : names.map((name) => der(0x82, Buffer.from(name)));
  return sequence(oid('551d11'), der(0x04, sequence(...entries)));
}
