/** An endpoint that new-endpoint.test.ts adds to a copy of the sources. */

import { routesIn } from '../../../src/rest/route.ts';
import { Type } from '../../../src/rest-framework/type.ts';

const route = routesIn('utils');

const hello = route({
  method: 'GET',
  path: '/utils/greeting/{name}',
  access: 'public',
  doc: 'Greets by name.',
  params: {
    name: { doc: 'A name.', schema: { type: 'string' }, parse: (text: string) => text },
  },
  reply: Type.Object({ text: Type.String() }),
  handle: ({ params: { name } }) => ({ text: `Hello ${name}` }),
});

export const greeting = { hello };
