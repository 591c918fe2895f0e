/**
 * What a peer has done wrong, as something that it sent or did not send shows. Only the code that
 * reads from a peer makes one. So an error of this machine is never one, and no penalty can follow
 * from it.
 */
export abstract class Misconduct extends Error {
  /** Makes the class a type of its own for the compiler. */
  declare protected readonly isOfPeer: true;
}

/** Seen by a comparison, and told in the words of this node. */
class Seen extends Misconduct {
  override name = 'Seen';
}

/** A text that is written in the code; the text of an error is none. */
type Written<T extends string> = string extends T ? never : T;

export const misconduct = <T extends string>(what: Written<T>): Misconduct => new Seen(what);
