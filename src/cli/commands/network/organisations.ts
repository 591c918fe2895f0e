/** The organisations of a new network, as `--org` names them. */
import { isIPv4, isIPv6 } from 'node:net';
import { InvalidArgumentError } from 'commander';

export interface Organisation {
  /** Also the name of its folder, and the one that its node tells. */
  readonly name: string;
  /** An IPv6 address stands in brackets. */
  readonly host: string;
  readonly peerPort: number;
  readonly restPort: number;
}

const PEER_PORT = 6864;
const REST_PORT = 6862;
/** More join later. */
const ORGANISATIONS_MAX = 100;

const SPELLING = /^([^=]*)=(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?(?::([^:]*))?$/;
/** A folder, a service of compose and a name in a configuration. */
export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
export const NAME_RULE = 'must have 1 to 32 small letters, digits and hyphens, none at its ends';

/** `alpha=host`, `alpha=host:6864` or `alpha=host:6864:6862`; each `--org` adds one. */
export function organisation(text: string, former: readonly Organisation[] = []): Organisation[] {
  const [, name, host, peer, rest] = SPELLING.exec(text) ?? [];
  if (name === undefined || host === undefined) {
    throw new InvalidArgumentError(
      'expected name=host, name=host:port or name=host:port:rest-port',
    );
  }
  if (!NAME.test(name)) {
    throw new InvalidArgumentError(`the name '${name}' ${NAME_RULE}`);
  }
  if (!isHost(host)) {
    throw new InvalidArgumentError(
      `'${host}' is no host: expected a name, an IPv4 address, or an IPv6 address in brackets`,
    );
  }
  const peerPort = portOf(peer, PEER_PORT);
  const restPort = portOf(rest, REST_PORT);
  if (peerPort === restPort) throw new InvalidArgumentError(`both ports are ${peerPort}`);
  const added = { name, host, peerPort, restPort };
  requireNew(added, former);
  return [...former, added];
}

function requireNew(added: Organisation, former: readonly Organisation[]): void {
  if (former.some(({ name }) => name === added.name)) {
    throw new InvalidArgumentError(`'${added.name}' is named twice`);
  }
  const there = former.find((one) => placeOf(one).toLowerCase() === placeOf(added).toLowerCase());
  if (there !== undefined) {
    throw new InvalidArgumentError(
      `'${there.name}' and '${added.name}' are both at ${placeOf(added)}`,
    );
  }
  if (former.length === ORGANISATIONS_MAX) {
    throw new InvalidArgumentError(`at most ${ORGANISATIONS_MAX}`);
  }
}

/** Where others reach the node. */
export const placeOf = ({ host, peerPort }: Organisation): string => `${host}:${peerPort}`;

function portOf(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError(`'${text}' is no port from 1 to 65535`);
}

const LABEL = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/i;
const HOST_CHARACTERS_MAX = 253;

/** No address that means this machine whichever it is, and no number that is no address. */
function isHost(host: string): boolean {
  if (host.startsWith('[')) {
    const inner = host.slice(1, -1);
    return isIPv6(inner) && !/^[:0]*$/.test(inner);
  }
  if (isIPv4(host)) return host !== '0.0.0.0';
  const labels = host.split('.');
  return (
    host.length <= HOST_CHARACTERS_MAX &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  );
}
