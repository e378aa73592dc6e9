import protobuf from 'protobufjs';
import { invariant } from '../../../../base/invariant.ts';

/** Members of each message, fields and messages alike, in their order in the file. */
export type OrderOfMembers = ReadonlyMap<protobuf.Type, readonly protobuf.ReflectionObject[]>;

/**
 * Runs a parse, and returns its result with the order of the members of each message. protobufjs 8 (type.js,
 * `add`) keeps the fields of a message apart from the messages in it, so their order between each other is
 * lost, which the index of a message depends on. While the parse runs, this patch notes each member that is
 * added. test/formats/records/protobuf-index.test.ts holds it.
 */
export function withOrderOfMembers<Result>(parse: () => Result): {
  readonly result: Result;
  readonly members: OrderOfMembers;
} {
  const members = new Map<protobuf.Type, protobuf.ReflectionObject[]>();
  const { prototype } = protobuf.Type;
  const { add } = prototype;
  invariant(typeof add === 'function', "protobufjs' Type must have the method add");
  prototype.add = function (this: protobuf.Type, member) {
    const before = members.get(this);
    if (before === undefined) members.set(this, [member]);
    else before.push(member);
    return add.call(this, member) as protobuf.Type;
  };
  try {
    return { result: parse(), members };
  } finally {
    prototype.add = add;
  }
}
