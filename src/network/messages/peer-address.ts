/** Addresses of nodes: a host, as a name or IP address, and a port. Their text is "host:port". */

export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 6864;
export const HOST_BYTES_MAX = 255;

const PORT_MAX = 65_535;
const HOST = /^[A-Za-z0-9._:-]{1,255}$/;
const BRACKETS = /^\[([^\]]+)\](?::(\d{1,5}))?$/;
const NAME_AND_PORT = /^([^:]+)(?::(\d{1,5}))?$/;

/** The port may be missing; undefined for a text that is no address. */
export function parseAddress(text: string): PeerAddress | undefined {
  const match = BRACKETS.exec(text) ?? NAME_AND_PORT.exec(text);
  const [, host = '', port = String(DEFAULT_PORT)] = match ?? [];
  const place = { host, port: Number(port) };
  return isAddress(place) ? place : undefined;
}

export const isAddress = ({ host, port }: PeerAddress): boolean =>
  HOST.test(host) && Number.isInteger(port) && port >= 1 && port <= PORT_MAX;

export const addressText = ({ host, port }: PeerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** True for an IP address. */
export const isDigits = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

/** "Every interface of this machine", which is the address of no node. */
export const isAnyLocal = (host: string): boolean => host === '0.0.0.0' || host === '::';
