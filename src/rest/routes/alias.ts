/** Aliases. */

import { apiError } from '../../base/errors.ts';
import { aliasesOf, aliasOwner } from '../../ledger/aliases.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { aliasToText } from '../../tx/fields/recipient.ts';
import { readAlias } from '../alias-name.ts';
import { routesIn } from '../route.ts';

const route = routesIn('alias');

const aliasName: params.Param<string> = {
  doc: 'The bare name of an alias.',
  schema: { type: 'string', minLength: 4, maxLength: 30 },
  parse: readAlias,
};

const byAlias = route({
  method: 'GET',
  path: '/alias/by-alias/{alias}',
  access: 'public',
  doc: 'The address behind an alias.',
  params: { alias: aliasName },
  reply: Type.Object({ address: Type.String() }),
  handle({ params: { alias } }, { view, scheme }) {
    const owner = aliasOwner(view, alias);
    if (owner === undefined) throw apiError('AliasNotFound', aliasToText(alias, scheme));
    return { address: scheme.addressToText(owner) };
  },
});

const byAddress = route({
  method: 'GET',
  path: '/alias/by-address/{address}',
  access: 'public',
  doc: 'The aliases of an address.',
  params: { address: params.address },
  reply: Type.Array(Type.String()),
  handle: ({ params: { address } }, { view, scheme }) =>
    Array.from(aliasesOf(view, address.bytes), (name) => aliasToText(name, scheme)),
});

export const alias = { byAlias, byAddress };
