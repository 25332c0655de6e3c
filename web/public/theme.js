// Runs before the first paint, so that the page never flashes the other theme.
{
  let theme = 'system';
  try {
    theme = JSON.parse(localStorage.getItem('moothall.settings') ?? '{}').theme;
  } catch {
    // Without storage the page follows the system.
  }
  if (theme !== 'light' && theme !== 'dark')
    theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme;
}
