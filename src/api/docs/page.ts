/** The page that shows the interface description; what it does is in script.ts. */
export const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>platform-node API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
</head>
<body>
<header>
  <h1>platform-node <small id="version"></small></h1>
  <label>Search <input id="search" type="search" placeholder="path or words" autofocus></label>
  <label>API key <input id="key" type="password" autocomplete="off"></label>
  <a href="swagger.json">OpenAPI 3.1</a>
  <a href="../explorer">Explorer</a>
</header>
<main id="groups" aria-busy="true"><p>Loading the description…</p></main>
<noscript><p>This page needs JavaScript. The description is in
<a href="swagger.json">swagger.json</a>.</p></noscript>
<script src="page.js"></script>
</body>
</html>
`;
