// Package browser drives JupyterLab in headless Chromium over the installed kernel, as a user would, and opens exported traces
// in Perfetto. It holds only tests;
// tools/test-browser.sh sets up what they need and runs them.
package browser
