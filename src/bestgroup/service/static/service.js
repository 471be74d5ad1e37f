// Requests to the service.

export class Refused extends Error {
  constructor(detail, status) { super(detail); this.status = status; }
}

export const study = new URLSearchParams(location.search).get("study"); // null on the list of studies

export const address = (path) => `/api/v1/${path}?${new URLSearchParams({ study })}`;
export const pageOf = (name) => `/?${new URLSearchParams({ study: name })}`;

export async function call(path, options = {}, query = {}) {
  const url = new URL(`/api/v1/${path}`, location.href);
  if (study !== null) url.searchParams.set("study", study);
  for (const [key, value] of Object.entries(query)) if (value !== "" && value !== undefined && value !== null) url.searchParams.set(key, value);
  const response = await fetch(url, { ...options, cache: "no-store" });
  if (response.ok) return response.json();
  let detail = `the server answered with ${response.status}`;
  try { detail = (await response.json()).detail; } catch { /* no problem JSON: the number must do */ }
  throw new Refused(detail, response.status);
}

export const post = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
