/** Why a handshake ends without a session, and the texts that tell the other side. */

export class HandshakeRefused extends Error {
  override name = 'HandshakeRefused';
  /** The other side has signed wrongly, or has sent what no honest node sends. */
  readonly forged: boolean;
  /** The other side refused, not this one. */
  readonly byRemote: boolean;
  /** The other side is this node itself, or another one with its keys. */
  readonly isSameOwner: boolean;
  /** The other side does not have the owner of this node. */
  readonly isStranger: boolean;
  /** The owner that the other side claims to be, proved or not. */
  owner: Uint8Array | undefined;

  constructor(
    why: string,
    { forged = false, byRemote = false, isSameOwner = false, isStranger = false } = {},
  ) {
    super(why);
    this.forged = forged;
    this.byRemote = byRemote;
    this.isSameOwner = isSameOwner;
    this.isStranger = isStranger;
  }
}

export const sameOwner = (address: string): string =>
  `Shouldn't connect to node with same owner address '${address}'`;

export const notPermitted = (address: string): string =>
  `Wrong remote handshake! Sender address '${address}', is not permitted to join the cluster.`;
