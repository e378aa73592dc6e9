import { describe, expect, it } from 'vitest';
import { hostRefusal } from '../../../src/base/network/address-guard.ts';

const linkLocal = [
  '169.254.0.0',
  '169.254.169.254',
  '169.254.255.255',
  '169.254.169.254...',
  'fe80::',
  'fe80::1%eth0',
  'fe80::a9fe:a9fe%25eth0',
  'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '[fe80::1]',
  '::ffff:169.254.169.254',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::ffff:a9fe:a9fe%lo',
  '::ffff:0:169.254.1.1',
  '::169.254.169.254',
  '::a9fe:1',
  '64:ff9b::169.254.0.1',
  '64:ff9b:1:a9fe:1:200::', // /48
  '64:ff9b:1:22a9:fe:a9fe::', // /56
  '64:ff9b:1:2222:a9:fea9:fe00:0', // /64
  '64:ff9b:1:2222::a9fe:a9fe', // /96
  '2002:a9fe:a9fe::1',
  '2001:0:a9fe:a9fe:8000:63bf:3fff:fdd2',
  '2001:0:4136:e378:8000:63bf:5601:5601',
];

const metadata = [
  '100.100.100.200',
  'fd00:100::100:200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:c1::a9fe:a9fe',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'FD00:0EC2:0000::0254',
  'fd20:ce::254',
  'fd00:42::42',
  'fd00:a9fe:a9fe::1',
  '::ffff:100.100.100.200',
  '::ffff:a83f:8110',
  '64:ff9b::192.0.0.192',
  '2002:6464:64c8::',
];

const allowed = [
  // Beside the ranges, on both sides.
  '169.253.255.255',
  '169.255.0.0',
  'fe7f:ffff::1',
  'fec0::1',
  '100.100.100.199',
  '168.63.129.17',
  'fd00:ec1:ffff::1',
  'fd00:ec3::254',
  'fd20:ce::253',
  '2003:a9fe:a9fe::1',
  '2001:1:a9fe:a9fe::1',
  '65:ff9b::a9fe:a9fe',
  '64:ff9b:2::a9fe:a9fe',
  '1::ffff:a9fe:a9fe',
  // Private and loopback addresses: receivers live there.
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.10',
  'fc00::1',
  'fd12:3456:789a::1',
  '::',
  '::1',
  '[::1]',
  '::ffff:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '2002:0a00:0001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2606:4700::1',
  '93.184.216.34',
  '2130706433', // 127.0.0.1
  '10.1',
];

describe('hostRefusal', () => {
  it.each(linkLocal)('refuses %s as link-local', (address) => {
    const shown = address.replace(/^\[|\]$|\.+$/g, '');
    expect(hostRefusal(address)).toBe(`address ${shown} is link-local: refused`);
  });

  it.each([
    '2852039166',
    '0xa9fea9fe',
    '025177524776',
    '0xa9.0xfe.0xa9.0xfe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662.',
    '１６９.２５４.１６９.２５４',
    '169。254。169。254',
    '%31%36%39.254.169.254',
  ])('refuses %s, which is no address until a resolver reads it', (host) => {
    expect(hostRefusal(host)).toBe('address 169.254.169.254 is link-local: refused');
  });

  it.each(metadata)('refuses %s as a metadata service', (address) => {
    const shown = address.toLowerCase();
    expect(hostRefusal(address)).toBe(`address ${shown} is a cloud metadata service: refused`);
  });

  it.each([
    'metadata.google.internal',
    'Metadata.Google.Internal.',
    'metadata.goog',
    'instance-data.ec2.internal',
  ])('refuses the name %s', (name) => {
    expect(hostRefusal(name)).toMatch(/^[a-z0-9.-]+ is a cloud metadata service: refused$/);
  });

  it.each([
    '',
    '[]',
    '%',
    'metadata',
    'metadata.google.internal.example',
    '169.254.169.254.nip.io',
  ])('leaves the name "%s" to its addresses', (name) => {
    expect(hostRefusal(name)).toBeUndefined();
  });

  it.each(allowed)('allows %s', (address) => {
    expect(hostRefusal(address)).toBeUndefined();
  });
});
