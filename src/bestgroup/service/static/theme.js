// Light or dark: the computer's setting, unless somebody has chosen. Runs before anything is painted.
{
  const kept = localStorage.getItem("bestgroup-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
      const next = (root.dataset.theme ?? (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
      root.dataset.theme = next;
      localStorage.setItem("bestgroup-theme", next);
    });
  });
}
