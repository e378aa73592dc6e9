/** A question that no stored data can answer: the mistake is in the question. */
export class ImpossibleQuestion extends Error {}
