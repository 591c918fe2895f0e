/** Checks of several settings of the data service together (data-service.md#settings). */

import { isLoopback } from '../../network/messages/peer-address.ts';
import { type Problem, problemsOf, type SourceOf } from './problems.ts';
import type { Config } from './settings.ts';

type DataSettings = Config['dataService'];

const SECTION = 'data-service.';

/** Rules for every command of the data service. */
export function dataChecks(settings: DataSettings, given: SourceOf): Problem[] {
  return problemsOf(given, SECTION, (wrong) => {
    if (settings.nodeUrl.length === 0) {
      wrong('node-url', '[]', 'expected at least one URL', 'the data come from a node');
    }
    // The value is not shown, because it may contain a password.
    if (!/^(postgres(ql)?:\/\/|pglite:)/.test(settings.databaseUrl)) {
      const fix = 'for example: postgres://user:password@host/data or pglite:/var/lib/data';
      wrong('database-url', undefined, 'expected postgres://… or pglite:<folder>', fix);
    } else if (!settings.databaseUrl.startsWith('pglite:') && !isReadable(settings.databaseUrl)) {
      const fix = 'a port has at most 65535; in a password / is %2F, # is %23, ? is %3F, @ is %40';
      wrong('database-url', undefined, 'is no address that can be read', fix);
    }
    // The server would take it for no password, and remove the one that the role has.
    if (settings.readerPassword === '') {
      const fix = 'leave it out where the role has its own, or logs in without one';
      wrong('reader-password', undefined, 'is empty', fix);
    }
    for (const section of ['tls', 'nodeTls'] as const) {
      const { cert, key } = settings[section];
      if ((cert === undefined) === (key === undefined)) continue;
      const missing = cert === undefined ? 'cert' : 'key';
      const name = section === 'tls' ? 'tls' : 'node-tls';
      wrong(`${name}.${missing}`, undefined, 'is missing', 'HTTPS needs both cert and key');
    }
  });
}

/** As the client of PostgreSQL reads it: the host may be missing, where an option names a socket. */
const isReadable = (url: string): boolean =>
  URL.canParse(url) || URL.canParse(url.replace('@/', '@host/'));

/** Rules for commands that serve: nothing may be open to everyone by mistake. */
export function servingChecks(settings: DataSettings, given: SourceOf): Problem[] {
  const { auth, apiKeyHashes, trustedProxies, bindAddress, allowUnauthenticated } = settings;
  return problemsOf(given, SECTION, (wrong) => {
    if (auth === 'api-key' && apiKeyHashes.length === 0) {
      const fix = 'make one with: platform-node api-key hash';
      wrong('api-key-hashes', '[]', 'expected a hash, since auth = api-key', fix);
    }
    if (auth === 'proxy' && trustedProxies.length === 0) {
      const fix = 'the addresses from which the proxies connect';
      wrong('trusted-proxies', '[]', 'expected an address, since auth = proxy', fix);
    }
    if (auth === 'none' && !isLoopback(bindAddress) && !allowUnauthenticated) {
      const fix = 'or set allow-unauthenticated = yes';
      const expected = `expected api-key or proxy: on ${bindAddress} everyone could read the data`;
      wrong('auth', auth, expected, fix);
    }
  });
}
