//! Devices that networks are computed on: the CPU, and those of the features `wgpu` and `cuda`.

pub use burn::tensor::Device;

/// The devices of this build, by name: the CPU, the first graphics card through Vulkan, Metal or DirectX, the first NVIDIA card.
pub const NAMES: &[&str] = &[
    "cpu",
    #[cfg(feature = "wgpu")]
    "wgpu",
    #[cfg(feature = "cuda")]
    "cuda",
];

/// Why a device cannot be opened.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum DeviceError {
    #[error("unknown device `{0}`; this build has {list} (the cargo features `wgpu` and `cuda` add more)", list = NAMES.join(", "))]
    Unknown(String),
    #[cfg(feature = "wgpu")]
    #[error("wgpu found no device; on Linux it needs a Vulkan driver, such as Debian's mesa-vulkan-drivers")]
    Wgpu(#[from] burn::tensor::wgpu::WgpuInitError),
    #[cfg(feature = "cuda")]
    #[error("no NVIDIA card or driver found")]
    Cuda,
}

/// Opens a device by name. A process opens each of them once.
pub fn open(name: &str) -> Result<Device, DeviceError> {
    match name {
        "cpu" => Ok(Device::flex()),
        #[cfg(feature = "wgpu")]
        "wgpu" => Ok(Device::wgpu_options().init()?),
        #[cfg(feature = "cuda")]
        "cuda" => Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec().into_iter().next().ok_or(DeviceError::Cuda),
        _ => Err(DeviceError::Unknown(name.into())),
    }
}
